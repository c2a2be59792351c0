#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes a Debian root with Slurm in a new folder. As root, in mount and pid namespaces of its own (tools/testing/roots.py
# gives it those), so that nothing stays mounted or runs on however it ends. Prints the version of slurmd, or, with status
# 4, that the suite has another release.
#   make_root.sh SUITE RELEASE MIRROR FOLDER PACKAGE...
set -euo pipefail
suite=$1 release=$2 mirror=$3 root=$4
shift 4
log=$root.log

inside() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"; }

step() {
  "$@" >>"$log" 2>&1 </dev/null && return 0
  tail -n 20 "$log" >&2
  echo "make_root.sh: failed: $*" >&2
  exit 3
}

: >"$log"
step debootstrap --variant=minbase "$suite" "$root" "$mirror"
# No daemon may start there, nothing need survive a power cut, and nobody reads its documentation.
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod 755 "$root/usr/sbin/policy-rc.d"
printf '%s\n' force-unsafe-io 'path-exclude=/usr/share/doc/*' 'path-exclude=/usr/share/man/*' \
  'path-exclude=/usr/share/locale/*' >"$root/etc/dpkg/dpkg.cfg.d/test-root"
mount -t proc proc "$root/proc"
# A mirror may be weeks behind sid, whose lists are valid for one.
step inside apt-get -q -o Acquire::Check-Valid-Until=false update
version=$(inside apt-cache show --no-all-versions slurmd 2>/dev/null | sed -n 's/^Version: //p' | head -n 1)
case $version in
  "$release".*) ;;
  *) echo "$suite has ${version:-no slurmd}"; exit 4 ;;
esac
step inside apt-get install -y -q --no-install-recommends "$@"
# Slurm's headers for the build alone, without what they depend on.
step inside sh -c 'cd /tmp && apt-get -q download libslurm-dev && dpkg-deb -x libslurm-dev_*.deb /tmp/dev && mkdir -p /opt/slurm &&
  mv /tmp/dev/usr/include /opt/slurm/include && rm -rf /tmp/dev /tmp/libslurm-dev_*.deb'
step inside apt-get clean
rm -rf "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/*.bin
# The cluster mounts its own over it. There is no name server in the cluster to wait for.
touch "$root/etc/hosts"
: >"$root/etc/resolv.conf"
umount "$root/proc"
rm "$log"
echo "$version"
