#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The real stack on a machine with one NVIDIA GPU: a one-node Slurm from Debian 12's packages, then nccl-launch and
# nccl-bench with the NCCL backend by srun, with 1, 2 and 4 ranks on that GPU. See README.md beside it.
#   [BIN=.gpu/bin] [DEBS=.gpu/debs] [OUT=tests/gpu/logs] tests/gpu/run.sh
# It installs into / and starts daemons: for a throw-away machine, as root.
set -euo pipefail
cd "$(dirname "$0")/../.."
BIN=$(realpath "${BIN:-.gpu/bin}")
DEBS=$(realpath -m "${DEBS:-.gpu/debs}")
OUT=$(realpath -m "${OUT:-tests/gpu/logs}")
WORK=/tmp/nccl-tune-gpu
export PATH=$BIN:$PATH:/usr/sbin:/sbin SLURM_CONF=$WORK/conf/slurm.conf

die() { echo "tests/gpu/run.sh: $*" >&2; exit 1; }

check_machine() {
  [ "$(id -u)" = 0 ] || die "needs root"
  local file
  for file in nccl-bench libnccl_bench_nccl.so nccl-launch; do
    [ -f "$BIN/$file" ] || die "no $file in $BIN: run tools/build and carry.sh, and carry .gpu here"
  done
  nvidia-smi -L | grep -q GPU || die "nvidia-smi shows no GPU"
}

# Debian's packages below what is there: nothing of the machine is replaced.
install_packages() {
  command -v slurmctld >/dev/null && return
  compgen -G "$DEBS/*.deb" >/dev/null || die "no packages in $DEBS: run debs.sh on Debian 12 and carry them here"
  mkdir -p "$WORK/root"
  for package in "$DEBS"/*.deb; do dpkg -x "$package" "$WORK/root"; done
  # /lib and /sbin are links on newer systems, folders in these packages.
  for folder in bin sbin lib; do
    [ -d "$WORK/root/$folder" ] || continue
    mkdir -p "$WORK/root/usr/$folder"
    cp -rn "$WORK/root/$folder/." "$WORK/root/usr/$folder/"
    rm -rf "${WORK:?}/root/$folder"
  done
  # cp -n reports skipped files as a failure in some releases.
  cp -rn "$WORK/root/." / 2>/dev/null || true
  ldconfig
  for daemon in slurmctld slurmd slurmstepd; do
    [ -e "/usr/sbin/$daemon" ] || ln -s "$daemon-wlm" "/usr/sbin/$daemon"
  done
}

# The libnccl that comes with Python, when the loader knows none.
find_nccl() {
  ldconfig -p | grep -q 'libnccl\.so\.2' && return
  [ -z "${NCCL_BENCH_NCCL_LIB:-}" ] || return 0
  local folder
  folder=$(python3 -c 'import nvidia.nccl; print(list(nvidia.nccl.__path__)[0])') || die "no libnccl.so.2 found"
  export NCCL_BENCH_NCCL_LIB=$folder/lib/libnccl.so.2
}

start_munge() {
  mkdir -p /run/munge "$WORK/munge"
  chmod 755 /run/munge
  chmod 700 "$WORK/munge"
  head -c 128 /dev/urandom >"$WORK/munge/key"
  chmod 400 "$WORK/munge/key"
  munged --force --key-file="$WORK/munge/key" --socket=/run/munge/munge.socket.2 --pid-file="$WORK/munge/pid" \
    --log-file="$WORK/munge/log" --seed-file="$WORK/munge/seed" --num-threads=2
}

write_conf() {
  local host
  host=$(hostname -s)
  mkdir -p "$WORK"/{conf,state,spool,log}
  : >"$WORK/conf/plugstack.conf"
  PLUGIN=0
  if [ -f "$BIN/spank_nccl_tune.so" ]; then
    echo "optional $BIN/spank_nccl_tune.so" >"$WORK/conf/plugstack.conf"
    PLUGIN=1
  fi
  # Slurm 22.05 knows no cgroup v2 without systemd; v1 at a folder that is not used does.
  printf 'CgroupPlugin=cgroup/v1\nCgroupMountpoint=%s/no-cgroup\n' "$WORK" >"$WORK/conf/cgroup.conf"
  cat >"$WORK/conf/slurm.conf" <<END
ClusterName=gpu
SlurmctldHost=$host(127.0.0.1)
AuthType=auth/munge
CredType=cred/munge
SlurmUser=root
StateSaveLocation=$WORK/state
SlurmdSpoolDir=$WORK/spool
SlurmctldPidFile=$WORK/slurmctld.pid
SlurmdPidFile=$WORK/slurmd.pid
SlurmctldLogFile=$WORK/log/slurmctld.log
SlurmdLogFile=$WORK/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
MpiDefault=none
SlurmdParameters=config_overrides
PlugStackConfig=$WORK/conf/plugstack.conf
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
}

stop_slurm() {
  local file
  for file in "$WORK"/slurmd.pid "$WORK"/slurmctld.pid "$WORK"/munge/pid; do
    if [ -s "$file" ]; then kill "$(cat "$file")" 2>/dev/null || true; fi
  done
}

start_slurm() {
  slurmctld
  slurmd
  local deadline=$((SECONDS + 30))
  until sinfo -h -o %t 2>/dev/null | grep -q idle; do
    if [ "$SECONDS" -ge "$deadline" ]; then
      tail -n 20 "$WORK"/log/*.log >&2
      die "the node did not become idle within 30 seconds"
    fi
    read -r -t 0.1 <> <(:) || true
  done
}

# For tests only: ranks that share a GPU pass for ranks of different hosts, which NCCL refuses otherwise.
write_wrapper() {
  cat >"$WORK/one-host-each" <<'END'
#!/bin/sh
NCCL_HOSTID=rank$SLURM_PROCID exec "$@"
END
  chmod 755 "$WORK/one-host-each"
}

versions() {
  date -u +%Y-%m-%dT%H:%M:%SZ
  nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
  nccl-bench --version
  nccl-launch --version
  slurmctld -V
  grep PRETTY_NAME /etc/os-release
  uname -r
}

# One srun line with N ranks; adds to the log, fails unless all data was right.
measure() {
  local ranks=$1 log=$OUT/ranks$1.log
  local -a tune=()
  if [ "$PLUGIN" = 1 ]; then tune=(--nccl-tune); else export NCCL_SOCKET_IFNAME=lo; fi
  local -a line=(srun "-n$ranks" --mpi=pmix "${tune[@]}" "$WORK/one-host-each" nccl-launch --verbose --
                 nccl-bench all_reduce -b 8 -e 64M -f 2)
  { versions; echo "\$ ${line[*]}"; } >"$log"
  if ! timeout 240 "${line[@]}" >>"$log" 2>&1; then
    tail -n 30 "$log" >&2
    die "$ranks ranks: the line failed; $log"
  fi
  grep -q '^# Out of bounds values : 0 OK' "$log" || die "$ranks ranks: no '0 OK' in $log"
  grep -q '^# nccl-bench .* backend nccl ' "$log" || die "$ranks ranks: another backend than nccl in $log"
  [ "$(grep -c '^#  Rank ' "$log")" = "$ranks" ] || die "$ranks ranks: other number of device lines in $log"
  echo "$ranks ranks: $(grep '^# Avg' "$log")"
}

# The check must be able to fail on the GPU too.
measure_spoilt() {
  local status=0
  NCCL_BENCH_TEST_CORRUPT=0:5 timeout 120 srun -n1 --mpi=pmix nccl-bench all_reduce -b 64 -e 64 \
    >"$OUT/spoilt.log" 2>&1 || status=$?
  [ "$status" = 7 ] || die "spoilt data: exit status $status instead of 7; $OUT/spoilt.log"
  grep -q 'rank 0: 1 wrong, first at offset 5' "$OUT/spoilt.log" || die "spoilt data: not named; $OUT/spoilt.log"
  echo "spoilt data: found, exit 7"
}

# All types and operations.
measure_types() {
  timeout 240 srun -n1 --mpi=pmix nccl-bench all_reduce -b 64K -e 64K -n 2 -d all -o all >"$OUT/types.log" 2>&1 ||
    { tail -n 20 "$OUT/types.log" >&2; die "types: the line failed; $OUT/types.log"; }
  grep -q '^# Out of bounds values : 0 OK' "$OUT/types.log" || die "types: no '0 OK' in $OUT/types.log"
  echo "types: $(grep -cE '^ +65536 ' "$OUT/types.log") rows right"
}

check_machine
mkdir -p "$WORK" "$OUT"
trap stop_slurm EXIT
install_packages
find_nccl
start_munge
write_conf
write_wrapper
start_slurm
for ranks in 1 2 4; do measure "$ranks"; done
measure_types
measure_spoilt
echo "tests/gpu/run.sh: all right; logs in $OUT"
