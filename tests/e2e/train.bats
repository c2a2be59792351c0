#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# payloads/train_lm.py and etc/sbatch/train_lm.sbatch on the embedded cluster, over gloo.
# NCCL_TUNE_LONG=1: the long form, `tools/test --long=train`.

bats_require_minimum_version 1.5.0
load cluster

INSIDE=/run/cluster/bin
# Small enough for a BLAS that is not tuned: 0.07 million parameters, 288 tokens a step.
SMALL="--layers 2 --heads 2 --width 48 --context 48 --global-batch 6 --micro-batch 3 --lr 5e-3 --warmup 4 --eval-windows 12"
# TOLERANCE: by how much the losses of other numbers of nodes may differ, as a part of the loss (docs/payloads.md).
if [ -n "${NCCL_TUNE_LONG:-}" ]; then STEPS=200 TOLERANCE=1e-8 SMALL="$SMALL --precision float64"; else STEPS=30 TOLERANCE=1e-3; fi

setup_file() {
  make_state
  up train
  cp -r "$CLONE/payloads" "$CLONE/etc/sbatch/train_lm.sbatch" "$NCCL_TUNE_CLUSTER_DIR/train/bin"
}

teardown_file() { remove_state; }

in_cluster() { timeout "${LIMIT:-100}" "$CLUSTER" run --name train "$@" 3>&-; }

long_only() { [ -n "${NCCL_TUNE_LONG:-}" ] || skip "in the long form: tools/test --long=train"; }

# train NODES FLAGS...: fills status and output. TASKS is how many on a node. Debian 13's PyTorch asks for libuv by default and is built without.
train() {
  local nodes=$1
  shift
  needs_pmix
  # shellcheck disable=SC2086  # several words
  run in_cluster env OMP_NUM_THREADS=1 USE_LIBUV=0 srun -N"$nodes" --ntasks-per-node="${TASKS:-1}" --mpi=pmix --wait=20 nccl-launch -- \
    /usr/bin/python3 $INSIDE/payloads/train_lm.py $SMALL "$@"
  echo "status $status: $output"
}

# submit SBATCH_FLAGS...: sets job. TRAIN is the flags of train_lm.py, LAUNCH those of nccl-launch.
submit() {
  needs_pmix
  job=$(in_cluster env USE_LIBUV=0 TRAIN_PYTHON=/usr/bin/python3 TRAIN_SRUN= TRAIN_LM=$INSIDE/payloads/train_lm.py \
    TRAIN_LAUNCH="${LAUNCH-}" TRAIN_FLAGS="$SMALL $TRAIN" sbatch --parsable "$@" $INSIDE/train_lm.sbatch)
}

# log FOLDER EXPRESSION: a Python expression over `rows`, the log's objects, and `loss`, the last loss of each step.
log() {
  in_cluster cat "$1/log.jsonl" | python3 -c 'import json, sys
rows = [json.loads(line) for line in sys.stdin]
loss = {row["step"]: row["loss"] for row in rows if row["event"] == "step"}
print(eval(sys.argv[1]))' "$2"
}
weights() { log "$1" 'rows[-1]["weights"]'; }
# at FOLDER PATTERN COMMAND...: runs a command on the head at once when a line of the log has the pattern.
at() { in_cluster sh -c 'until grep -qs "$0" "$1"; do sleep 0.02; done; shift; exec "$@"' "$2" "$1/log.jsonl" "${@:3}"; }
step() { echo "\"event\": \"step\".*\"step\": $1,"; }
ended() { in_cluster grep -qs '"event": "end"' "$1/log.jsonl"; }
patiently() { eventually "$@" || eventually "$@" || eventually "$@" || eventually "$@" || eventually "$@"; }
job_gone() { [ -z "$(in_cluster squeue -h -j "$1" 2>/dev/null)" ]; }
said() { in_cluster cat "train_lm-$job.out"; }

# agree FILE...: the losses in these files, by step, differ by TOLERANCE at most, and fall.
agree() {
  run python3 -c 'import ast, sys
one, *others = [dict(ast.literal_eval(open(path).read())) for path in sys.argv[2:]]
worst = max(abs(other[step] / one[step] - 1) for other in others for step in one)
print("largest difference", worst)
sys.exit(not (worst <= float(sys.argv[1]) and one[max(one)] < 0.6 * one[1]))' $TOLERANCE "$@"
  echo "$output"
  [ "$status" -eq 0 ]
}

@test "1, 2 and 3 nodes have the same losses" {
  local nodes
  for nodes in 1 2 3; do
    train "$nodes" --steps $STEPS --out "nodes$nodes"
    [ "$status" -eq 0 ]
    log "nodes$nodes" 'list(loss.items())' >"$NCCL_TUNE_CLUSTER_DIR/nodes$nodes"
    [ "$(log "nodes$nodes" 'rows[0]["ranks"], sorted(loss) == list(range(1, '$STEPS' + 1))')" = "($nodes, True)" ]
  done
  # On several ranks the share of time in communication is known.
  [ "$(log nodes3 'all(0 < row["comm_share"] < 1 for row in rows if row["event"] == "step")')" = True ]
  agree "$NCCL_TUNE_CLUSTER_DIR"/nodes{1,2,3}
}

@test "a job that gets sbatch's signal is requeued, goes on, and ends with the weights of an undisturbed one" {
  TRAIN="--steps $STEPS" submit --nodes=3
  at "train_lm/$job" '"event": "start"' scancel --signal=USR1 "$job"  # as sbatch --signal does
  patiently ended "train_lm/$job" || { said; false; }
  eventually job_gone "$job"
  said
  [[ $(said) == *"job $job: is requeued"*"job $job on server[1-3], restart 1:"*"goes on after step "*"ended with 0"* ]]
  [ "$(log "train_lm/$job" '[row["signal"] for row in rows if row["event"] == "stop"]')" = "['SIGUSR1']" ]
  [ "$(weights "train_lm/$job")" = "$(weights nodes3)" ]
}

@test "what one rank lacks ends all with one message" {
  in_cluster --node server1 sh -c 'echo "a text that is only here, and long enough for some windows of 48 tokens each" >/tmp/text; for i in 1 2 3 4 5; do cat /tmp/text /tmp/text >/tmp/more; mv /tmp/more /tmp/text; done'
  train 2 --steps 8 --data /tmp/text
  [ "$status" -eq 2 ]
  [ "$(grep -c '^train_lm: ' <<<"$output")" = 1 ]
  [[ $output == *"train_lm: rank 1: --data /tmp/text: No such file or directory; every rank reads it"* ]]
}

@test "a disk that fills up while saving: the older checkpoint is whole, and gone on from" {
  in_cluster --node server1 sh -c 'mkdir /tmp/out && mount -t tmpfs -o size=2500k none /tmp/out'
  TASKS=2 train 1 --steps 12 --save-every 4 --keep 3 --precision float32 --out /tmp/out
  [ "$status" -eq 74 ]
  [ "$(grep -c '^train_lm: rank ' <<<"$output")" = 1 ]
  [[ $output == *"train_lm: rank 0: checkpoint /tmp/out/checkpoints/step-00000012: cannot be written: No space left on device; step-00000008 is whole"* ]]
  [ -n "${NCCL_TUNE_LONG:-}" ] || return 0
  in_cluster --node server1 mount -o remount,size=8m /tmp/out
  TASKS=2 train 1 --steps 12 --save-every 4 --keep 3 --precision float32 --out /tmp/out
  [ "$status" -eq 0 ]
  [[ $output == *"goes on after step 8, saved by 2 ranks"* ]]
}

@test "FSDP: the losses of DDP, and on another number of nodes its shards go on" {
  local version
  version=$(in_cluster /usr/bin/python3 -c 'import importlib.metadata; print(importlib.metadata.version("torch"))') || version=none
  [[ $version != none && $version != 1.* ]] || skip "torch is $version, FSDP needs 2.2; --slurm=24.11 has it"
  train 2 --steps $STEPS --save-every 10 --parallel fsdp --out shards
  [ "$status" -eq 0 ]
  in_cluster sh -c "rm -r shards/checkpoints/$(printf 'step-%08d' $STEPS)"
  train 3 --steps $STEPS --parallel fsdp --out shards
  [ "$status" -eq 0 ]
  [[ $output == *"goes on after step $((STEPS - 10)), saved by 2 ranks"* ]]
  log shards 'list(loss.items())' >"$NCCL_TUNE_CLUSTER_DIR/shards"
  agree "$NCCL_TUNE_CLUSTER_DIR"/{nodes1,shards}
}

@test "long: the stated loss on the text that is built in, within 5 minutes of CPU" {
  long_only
  LIMIT=580 train 3 --width 64 --context 64 --global-batch 8 --lr 4e-3 --warmup 40 --steps 1000 --eval-windows 98 --log-every 100 --out stated
  [ "$status" -eq 0 ]
  log stated '[row for row in rows if row["event"] in ("eval", "end")]'
  [ "$(log stated 'rows[-1]["cpu_seconds"] < 300, rows[-2]["loss"] < 0.4')" = "(True, True)" ]
}

@test "long: killed by Slurm in the middle, twice, a job ends with the weights of an undisturbed one" {
  long_only
  TRAIN="--steps $STEPS --save-every 15" submit --nodes=3
  # As a preemption does: SIGTERM, and SIGKILL after KillWait.
  at "train_lm/$job" "$(step 40)" scontrol requeue "$job"
  at "train_lm/$job" "$(step 100)" scancel --signal=KILL "$job.0"
  patiently job_gone "$job"
  in_cluster scontrol requeue "$job"
  patiently ended "train_lm/$job" || { said; false; }
  said
  [ "$(log "train_lm/$job" '[row["ranks_before"] for row in rows if row["event"] == "resume"]')" = "[3, 3]" ]
  [ "$(weights "train_lm/$job")" = "$(weights nodes3)" ]
}

@test "long: before its time limit a job saves and is requeued by its script" {
  long_only
  TRAIN="--steps 100000" submit --nodes=3 --time=1 --signal=USR1@40
  patiently in_cluster grep -qs "is requeued" "train_lm-$job.out" || patiently in_cluster grep -qs "is requeued" "train_lm-$job.out"
  patiently in_cluster grep -qs "goes on after step" "train_lm-$job.out" || { said; false; }
  in_cluster scancel "$job"
  said
  [ "$(log "train_lm/$job" '[row["signal"] for row in rows if row["event"] == "stop"][0]')" = SIGUSR1 ]
  patiently job_gone "$job"
}

# Last: the cluster has a node less from here on.
@test "long: a lost node is named, the job is requeued and goes on with the losses of before on the nodes that are left" {
  long_only
  LAUNCH="--requeue-on node" TRAIN="--steps $STEPS --save-every 20" submit --nodes=2-3
  at "train_lm/$job" "$(step 60)" true
  kill -9 "$(node_pid train server3)"
  patiently in_cluster grep -qs "does not answer any more: server3" "train_lm-$job.out" || { said; false; }
  in_cluster scontrol update NodeName=server3 State=DOWN Reason=vanished
  patiently ended "train_lm/$job" || patiently ended "train_lm/$job" || { said; false; }
  said
  [[ $(said) == *"job $job on server[1-2], restart 1:"* ]]
  [ "$(log "train_lm/$job" '[row["ranks_before"] for row in rows if row["event"] == "resume"]')" = "[3]" ]
  run python3 -c 'import sys; one, other = map(float, sys.argv[1:3]); sys.exit(abs(one / other - 1) > float(sys.argv[3]))' \
    "$(log nodes3 "loss[$STEPS]")" "$(log "train_lm/$job" "loss[$STEPS]")" $TOLERANCE
  [ "$status" -eq 0 ]
}
