# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A one-node Slurm on a GPU machine without a package registry, for the scripts beside it. Source it in the clone's
# root: it sets WORK, BIN, DEBS, OUT, PATH and SLURM_CONF.
BIN=$(realpath "${BIN:-.gpu/bin}")
DEBS=$(realpath -m "${DEBS:-.gpu/debs}")
OUT=$(realpath -m "${OUT:-tests/gpu/logs}")
WORK=/tmp/nccl-tune-gpu
export PATH=$BIN:$PATH:/usr/sbin:/sbin SLURM_CONF=$WORK/conf/slurm.conf

die() { echo "$0: $*" >&2; exit 1; }

# Ends where a program of ours or the GPU is not there.
check_machine() {
  [ "$(id -u)" = 0 ] || die "needs root"
  local file
  for file; do
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
  # shellcheck disable=SC2034  # used by the scripts
  PLUGIN=0
  if [ -f "$BIN/spank_nccl_tune.so" ]; then
    echo "optional $BIN/spank_nccl_tune.so" >"$WORK/conf/plugstack.conf"
    # shellcheck disable=SC2034
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

# Returns when they have ended, so that others can be started at once.
stop_slurm() {
  local file pid
  for file in "$WORK"/slurmd.pid "$WORK"/slurmctld.pid "$WORK"/munge/pid; do
    [ -s "$file" ] || continue
    pid=$(cat "$file")
    kill "$pid" 2>/dev/null || continue
    timeout 20 tail --pid="$pid" -f /dev/null || true
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

# Whether a case is among those that ONLY names; without a name all are.
wanted() {
  local one
  [ "${#ONLY[@]}" -gt 0 ] || return 0
  for one in "${ONLY[@]}"; do [ "$one" != "$1" ] || return 0; done
  return 1
}

# What ran, for the head of a log.
versions() {
  date -u +%Y-%m-%dT%H:%M:%SZ
  nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
  if [ -f "$BIN/nccl-bench" ]; then nccl-bench --version; fi
  nccl-launch --version
  slurmctld -V
  grep PRETTY_NAME /etc/os-release
  uname -r
}
