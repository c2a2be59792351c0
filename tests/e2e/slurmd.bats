#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What the plugin is to Slurm's daemons: slurmd killed and started anew, and the memory of slurmstepd.

bats_require_minimum_version 1.5.0
load cluster

INSIDE=/run/cluster
GROWTH_KB=8192 # of slurmstepd in a tuned step, at most

setup_file() {
  make_state
  up slurmd --nodes 2
}

teardown_file() { remove_state; }

head_run() { "$CLUSTER" run --name slurmd "$@" 3>&-; }
on_server1() { head_run --node server1 "$@"; }

TUNED="=mlx5_1:1"
tuned_step() { head_run srun -N1 -n1 -w server1 --nccl-tune sh -c 'echo "${NCCL_IB_HCA-none}"'; }

idle() { [ "$(head_run sinfo -h -N -o %t | sort -u)" = idle ]; }
no_reason() { [ -z "$(head_run sinfo -h -R)" ]; }
no_step_left() { [ -z "$(head_run squeue -h)" ] && ! on_server1 pidof slurmstepd >/dev/null; }
files_of_node() { on_server1 sh -c 'find /tmp /run /dev/shm -xdev | grep -vE "^/run/cluster|slurmd.pid|cred_state" | sort'; }

# slurmd is no child of anything that would start it again. The new one has the old one's command line.
kill_slurmd() {
  on_server1 sh -c 'kill -9 $(pidof slurmd); while pidof slurmd >/dev/null; do sleep 0.02; done'
}
start_slurmd() {
  on_server1 sh -c 'setsid slurmd -D -N server1 >/dev/null 2>&1 </dev/null & :'
  eventually answers
}
answers() { on_server1 scontrol show slurmd >/dev/null 2>&1; }

@test "slurmd killed and started anew between two steps: the next one is tuned" {
  [ "$(tuned_step)" = "$TUNED" ]
  eventually no_step_left
  local before
  before=$(files_of_node)
  kill_slurmd
  start_slurmd
  [ "$(tuned_step)" = "$TUNED" ]
  eventually no_step_left
  diff <(echo "$before") <(files_of_node)
  eventually idle
  no_reason
}

@test "slurmd killed during a step: the step goes on to its own end, and the next one is tuned" {
  local out=$INSIDE/during before step
  before=$(files_of_node)
  head_run sh -c "srun -N1 -n1 -w server1 --nccl-tune sh -c 'while [ ! -e $INSIDE/go ]; do sleep 0.05; done
    echo \"\${NCCL_IB_HCA-none}\"; exit 5' >$out; echo \$? >>$out" &
  step=$!
  eventually on_server1 pidof slurmstepd
  eventually on_server1 pidof sleep
  kill_slurmd
  start_slurmd
  touch "$NCCL_TUNE_CLUSTER_DIR/slurmd/go"
  wait "$step"
  [ "$(head_run cat $out)" = $'=mlx5_1:1\n5' ]
  [ "$(tuned_step)" = "$TUNED" ]
  eventually no_step_left
  diff <(echo "$before") <(files_of_node)
  eventually idle
  no_reason
}

@test "slurmd killed during a batch job: its later steps are tuned, and it is not queued again" {
  local job out=$INSIDE/batch
  rm -f "$NCCL_TUNE_CLUSTER_DIR/slurmd/go"
  job=$(head_run sbatch --parsable -N1 -n1 -w server1 -o $out --nccl-tune --wrap "while [ ! -e $INSIDE/go ]; do sleep 0.05; done
    srun sh -c 'echo \"\${NCCL_IB_HCA-none}\"'" | tail -n 1)
  eventually on_server1 pidof sleep
  kill_slurmd
  start_slurmd
  touch "$NCCL_TUNE_CLUSTER_DIR/slurmd/go"
  done_with() { [[ $(head_run scontrol show job "$job") == *"JobState=COMPLETED"*"Restarts=0"* ]]; }
  eventually done_with
  [ "$(head_run cat $out)" = "$TUNED" ]
  eventually idle
  no_reason
}

# The largest that the slurmstepd of a step has been, and what it has of its own, in kB.
stepd_memory() {
  head_run srun -N1 -n1 -w server1 "$@" sleep 30 >/dev/null 2>&1 &
  eventually on_server1 pidof sleep >/dev/null
  on_server1 sh -c 'awk "/^(VmHWM|RssAnon):/ { printf \"%d \", \$2 }" /proc/$(pidof slurmstepd)/status'
  on_server1 sh -c 'kill $(pidof sleep)'
  wait
  eventually no_step_left
}

@test "slurmstepd grows by less than 8 MiB" {
  [ -z "${NCCL_TUNE_SANITIZED:-}" ] || skip "a sanitizer in slurmstepd takes memory of its own"
  local without with mode
  head_run sh -c "mv $INSIDE/conf/plugstack.conf.d $INSIDE/conf/away && mkdir $INSIDE/conf/plugstack.conf.d"
  read -ra without <<<"$(stepd_memory)"
  head_run sh -c "rmdir $INSIDE/conf/plugstack.conf.d && mv $INSIDE/conf/away $INSIDE/conf/plugstack.conf.d"
  for mode in off auto explain; do
    read -ra with <<<"$(stepd_memory --nccl-tune=$mode)"
    echo "# slurmstepd with --nccl-tune=$mode: at most ${with[0]} kB, ${with[1]} kB its own; without the plugin ${without[*]}" >&3
    [ "${with[0]}" -gt "${without[0]}" ] # so that both were measured
    [ $((with[0] - without[0])) -lt $GROWTH_KB ]
    [ $((with[1] - without[1])) -lt $GROWTH_KB ]
  done
}

@test "no file, process or node is the worse for it" {
  eventually no_step_left
  eventually idle
  no_reason
}
