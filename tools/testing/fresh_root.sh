#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs our packages by apt into a new Debian root, uses and purges them there; prints TAP. As root, in mount and pid
# namespaces of its own (tools/testing/packages.py gives it those). What fails ends it: the next steps need it.
#   fresh_root.sh SUITE MIRROR FOLDER DEB...
set -euo pipefail
suite=$1 mirror=$2 root=$3/root log=$3/log
shift 3
count=0

inside() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"; }

# test_case NAME COMMAND...: a line of TAP; what a failing one said follows it.
test_case() {
  local name=$1 start=${EPOCHREALTIME/./}
  shift
  count=$((count + 1))
  if "$@" >"$log" 2>&1 </dev/null; then
    echo "ok $count $name in $(((${EPOCHREALTIME/./} - start) / 1000))ms"
  else
    echo "not ok $count $name in $(((${EPOCHREALTIME/./} - start) / 1000))ms"
    tail -n 20 "$log" | sed 's/^/# /'
    exit 1
  fi
}

make_root() {
  debootstrap --variant=minbase "$suite" "$root" "$mirror"
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" # no daemon starts there
  chmod 755 "$root/usr/sbin/policy-rc.d"
  mount -t proc proc "$root/proc"
  inside apt-get -q update
  inside apt-get install -y -q --no-install-recommends slurm-client slurmd man-db
}

# Everything but what apt, dpkg and the loader note about themselves.
files() { (cd "$root" && find . -xdev -not -path './var/*' -not -path './proc/*' -not -name 'ld.so.cache*' -not -path './tmp/*' | sort); }

libraries_are_there() {
  # shellcheck disable=SC2016
  inside sh -c 'for file in /usr/bin/nccl-* /usr/lib/nccl-tune/*.so /usr/lib/nccl-bench/*.so; do
    echo "$file" && ldd "$file" || exit 1
  done' | tee "$root/tmp/ldd"
  [ "$(grep -c '^/' "$root/tmp/ldd")" -ge 5 ]
  if grep 'not found' "$root/tmp/ldd"; then return 1; fi
}

programs_run() {
  inside nccl-tune --version
  inside nccl-tune facts
  inside nccl-launch --version
  inside nccl-bench --version
  # shellcheck disable=SC2016
  inside sh -c 'for page in nccl-tune nccl-launch nccl-bench nccl-tune.toml spank_nccl_tune; do man "$page" | grep -q NAME || exit 1; done'
}

srun_has_the_option() {
  printf 'ClusterName=fresh\nSlurmctldHost=localhost\nAuthType=auth/munge\n' >"$root/etc/slurm/slurm.conf"
  inside srun --help >"$root/tmp/help" 2>&1
  cat "$root/tmp/help"
  if grep -E '^srun: (error|fatal)' "$root/tmp/help"; then return 1; fi
  grep -e '--nccl-tune' "$root/tmp/help"
}

leaves_nothing() {
  inside apt-get purge -y -q nccl-tune-slurm-plugin nccl-tune nccl-bench
  rm -f "$root/etc/slurm/slurm.conf"
  inside apt-get autoremove -y -q --purge
  diff "$root/tmp/before" <(files)
  [ ! -e "$root/var/lib/nccl-tune-slurm-plugin" ]
}

echo 1..6
test_case "a root of $suite with Slurm is made" make_root
files >"$root/tmp/before"
cp "$@" "$root/tmp"
test_case "apt installs the packages with what they depend on" \
  inside sh -c 'apt-get install -y -q --no-install-recommends /tmp/*.deb'
test_case "every library that they need is there" libraries_are_there
test_case "the programs run, and man shows their pages" programs_run
test_case "srun lists the option, and has nothing to complain of" srun_has_the_option
test_case "apt purges them, and nothing is left" leaves_nothing
