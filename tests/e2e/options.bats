#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# How --nccl-tune travels: Slurm carries it in its messages and in a variable, which jobs inherit and users can set.

bats_require_minimum_version 1.5.0
load cluster

INSIDE=/run/cluster
# By which Slurm hands the option on.
CARRIER=SLURM_SPANK__SLURM_SPANK_OPTION_nccl_tune_nccl_tune

setup_file() {
  make_state
  up options --nodes 2
  head_run mkdir -p $INSIDE/shared
}

teardown_file() { remove_state; }

head_run() { "$CLUSTER" run --name options "$@" 3>&-; }

SHOW='echo "${NCCL_IB_HCA-none} ${NCCL_IB_TC-none}"'
TUNED="=mlx5_1:1 none"
UNTUNED="none none"
# A step of one task on server1.
step() { head_run "${@:1:$#-1}" srun -Q -N1 -n1 -w server1 ${!#} sh -c "$SHOW"; }

gone() { [ -z "$(head_run squeue -h -j "$1")" ]; }

# Runs a batch script of these lines with this command, sbatch with options; prints its output.
batch() {
  local script=$1 file=$INSIDE/shared/out job
  shift
  job=$(printf '#!/bin/sh\n%s\n' "$script" | head_run "$@" --parsable -N1 -n1 -w server1 -o $file | tail -n 1)
  eventually gone "$job" && head_run cat $file
}

@test "on the command line the last one counts" {
  [ "$(step "--nccl-tune=off --nccl-tune")" = "$TUNED" ]
  [ "$(step "--nccl-tune --nccl-tune=off")" = "$UNTUNED" ]
  [ "$(step "--nccl-tune=set=NCCL_IB_TC:5 --nccl-tune=set=NCCL_IB_TC:6")" = "=mlx5_1:1 6" ]
}

@test "a user who sets the variable that carries the option has given the option" {
  [ "$(step env $CARRIER=auto "")" = "$TUNED" ]
  [ "$(step env $CARRIER=off NCCL_TUNE=auto "")" = "$UNTUNED" ]
  [ "$(step env $CARRIER=off "--nccl-tune")" = "$TUNED" ]
  [ "$(step env $CARRIER=auto "--nccl-tune=off")" = "$UNTUNED" ]
  [ "$(step env "$CARRIER=(null)" "")" = "$TUNED" ]
  [ "$(batch "$SHOW" env $CARRIER=auto sbatch)" = "$TUNED" ]
  [ "$(head_run env $CARRIER=auto salloc -Q -N1 -n1 -w server1 srun sh -c "$SHOW")" = "$TUNED" ]
}

@test "a bad value in that variable is refused as on the command line" {
  for command in "srun true" "sbatch --wrap true" "salloc true"; do
    # shellcheck disable=SC2086  # words of one command
    run ! head_run env $CARRIER=fast $command
    [[ $output == *'unknown mode: got "fast"'* ]]
  done
  [ -z "$(head_run squeue -h)" ]
}

@test "a step inside a step inherits the option, and its own wins" {
  nested() { head_run srun -Q -N1 -n1 -w server1 "$1" sh -c "srun -Q -N1 -n1 --overlap $2 sh -c '$SHOW'"; }
  [ "$(nested --nccl-tune=set=NCCL_IB_TC:5 "")" = "=mlx5_1:1 5" ]
  [ "$(nested --nccl-tune=set=NCCL_IB_TC:5 --nccl-tune=set=NCCL_IB_TC:6)" = "=mlx5_1:1 6" ]
  [ "$(nested --nccl-tune=set=NCCL_IB_TC:5 --nccl-tune=off)" = "$UNTUNED" ]
  [ "$(nested --nccl-tune=off "")" = "$UNTUNED" ]
  [ "$(nested --nccl-tune=off --nccl-tune)" = "$TUNED" ]
}

@test "a step inside a step of another node has that node's values" {
  local state=sys/class/infiniband/mlx5_1/ports/1/state
  "$CLUSTER" set --name options server2 $state "1: DOWN" 3>&-
  run -0 head_run srun -Q -N2 --ntasks-per-node=1 --nccl-tune sh -c \
    "[ \$SLURM_PROCID = 1 ] || srun -Q -N1 -n1 -w server2 --overlap sh -c 'hostname; $SHOW'"
  "$CLUSTER" set --name options server2 $state "4: ACTIVE" 3>&-
  [ "$output" = $'server2\nnone none' ]
}

@test "without a value, in every place and inside: auto" {
  [ "$(head_run srun -Q -N1 -n1 -w server1 --nccl-tune sh -c "srun -Q -N1 -n1 --overlap sh -c '$SHOW'")" = "$TUNED" ]
  [ "$(batch "$SHOW; srun -Q sh -c '$SHOW'" sbatch --nccl-tune)" = "$TUNED"$'\n'"$TUNED" ]
  [ "$(head_run salloc -Q -N1 -n1 -w server1 --nccl-tune srun -Q sh -c "srun -Q --overlap sh -c '$SHOW'")" = "$TUNED" ]
}

@test "a line of the script, and the command line over it" {
  local script="#SBATCH --nccl-tune=set=NCCL_IB_TC:5
$SHOW
srun -Q sh -c '$SHOW'
srun -Q --nccl-tune=off sh -c '$SHOW'"
  [ "$(batch "$script" sbatch)" = $'=mlx5_1:1 5\n=mlx5_1:1 5\nnone none' ]
  [ "$(batch "$script" sbatch --nccl-tune=off)" = $'none none\nnone none\nnone none' ]
  [ "$(batch "$script" sbatch --nccl-tune)" = "$TUNED"$'\n'"$TUNED"$'\n'"$UNTUNED" ]
}

@test "sbatch --export: the job's steps have the option whatever is exported; the script itself not on Slurm 22.05" {
  local names script own
  script=$(printf '#!/bin/sh\nPATH=/run/cluster/bin:/usr/bin:/bin\nexport PATH\n%s\nsrun -Q /bin/sh -c '\''%s'\''\n' "$SHOW" "$SHOW")
  for names in ALL NONE NIL PATH,HOME PATH,NCCL_IB_TC=7; do
    head_run sbatch -Q -N1 -n1 -w server1 -o "$INSIDE/shared/$names" --export=$names --nccl-tune <<<"$script"
  done
  eventually sh -c '[ -z "$('"$CLUSTER"' run --name options squeue -h 3>&-)" ]'
  for names in ALL NONE NIL PATH,HOME PATH,NCCL_IB_TC=7; do
    own="=mlx5_1:1"
    [ "$names" = ALL ] || [ "$(slurm_release options)" != 22.05 ] || own=none
    run -0 head_run cat "$INSIDE/shared/$names"
    [ "$(cut -d" " -f1 <<<"$output")" = "$own"$'\n=mlx5_1:1' ]
  done
  [ "$(cut -d" " -f2 <<<"$output")" = $'7\n7' ]
}

@test "srun --export: a list does not take the option away" {
  for names in NONE NIL PATH NCCL_IB_TC=7; do
    run -0 head_run srun -Q -N1 -n1 -w server1 --export=$names --nccl-tune /bin/sh -c "$SHOW"
    [[ $output == "=mlx5_1:1 "* ]]
  done
  [ "$output" = "=mlx5_1:1 7" ]
}

@test "a step beside another, asked for from outside the job" {
  local job
  job=$(head_run sbatch --parsable -N1 -n1 -w server1 -o /dev/null --wrap "srun sleep 30" | tail -n 1)
  eventually head_run --node server1 pidof sleep
  run -0 head_run srun -Q --jobid="$job" --overlap --nccl-tune sh -c "$SHOW"
  [ "$output" = "$TUNED" ]
  run -0 head_run srun -Q --jobid="$job" --overlap sh -c "$SHOW"
  [ "$output" = "$UNTUNED" ]
  head_run scancel "$job"
}

@test "a step that waits for another starts tuned" {
  run -0 head_run salloc -Q -N1 -n1 -w server1 sh -c "
    srun -Q -n1 --exact sleep 1 & sleep 0.2
    srun -Q -n1 --exact --nccl-tune sh -c '$SHOW'; wait"
  [ "$output" = "$TUNED" ]
}

@test "a job that starts later is tuned by what its node is then" {
  local job state=sys/class/infiniband/mlx5_1/ports/1/state file=$INSIDE/shared/later
  job=$(head_run sbatch --parsable -H -N1 -n1 -w server1 -o $file --nccl-tune --wrap "$SHOW" | tail -n 1)
  "$CLUSTER" set --name options server1 $state "1: DOWN" 3>&-
  head_run scontrol release "$job"
  eventually gone "$job"
  "$CLUSTER" set --name options server1 $state "4: ACTIVE" 3>&-
  [ "$(head_run cat $file)" = "$UNTUNED" ]
}

@test "a heterogeneous batch job: all its components have the option" {
  local script="#SBATCH -N1 -w server1 --nccl-tune
#SBATCH hetjob
#SBATCH -N1 -w server2
srun -Q --het-group=0,1 sh -c 'echo \$(hostname) \${NCCL_IB_HCA-none}' | sort"
  printf '#!/bin/sh\n%s\n' "$script" | head_run sh -c "cat >/tmp/het"
  eventually gone "$(head_run sbatch --parsable -o $INSIDE/shared/het /tmp/het)"
  [ "$(head_run cat $INSIDE/shared/het)" = $'server1 =mlx5_1:1\nserver2 =mlx5_1:1' ]
}

@test "salloc without a command: the shell's steps, and the shell itself where it runs on the node" {
  interactive() { printf '%s\n' "$SHOW" "srun -Q -n1 --overlap sh -c '$SHOW'" | head_run salloc -Q -N1 -n1 -w server1 --nccl-tune; }
  run -0 interactive
  [ "$output" = "$UNTUNED"$'\n'"$TUNED" ] # this shell is on the login node
  head_run sh -c "echo LaunchParameters=use_interactive_step >>$INSIDE/conf/slurm.conf && scontrol reconfigure"
  run -0 interactive
  echo "$output"
  [ "$(grep -cxF "$TUNED" <<<"$(tr -d '\r' <<<"$output")")" = 2 ]
}

@test "no node was drained by any of this" {
  idle() { [ "$(head_run sinfo -h -N -o %t | sort -u)" = idle ]; }
  eventually idle
}
