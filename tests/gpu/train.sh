#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# payloads/train_lm.py over NCCL, as steps of a real Slurm on a machine with one NVIDIA GPU: the same losses with 1 and 2
# ranks and in shards, bf16 with its utilisation, stopped and gone on with. See README.md beside it.
#   [BIN=.gpu/bin] [DEBS=.gpu/debs] [OUT=tests/gpu/logs] [PYTHON=python3] tests/gpu/train.sh [CASE]...
# It installs into / and starts daemons: for a throw-away machine, as root.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/gpu/slurm.bash
. tests/gpu/slurm.bash
ONLY=("$@")
CASES=0
RIGHT=0
RUNS=$WORK/runs
TRAIN=("${PYTHON:-python3}" payloads/train_lm.py)
# Two ranks on one GPU are a test only: they pass for ranks of different hosts.
# shellcheck disable=SC2016  # of the shell that is started
OWN_HOST=(bash -c 'NCCL_HOSTID=host$RANK exec "$@"' ranks)
SMALL=(--layers 2 --heads 2 --width 128 --context 128 --global-batch 8 --micro-batch 2 --lr 3e-3 --warmup 4 --eval-windows 16
       --steps 30 --precision float32 --log-every 30 --profile-every 10)

# judge EXPRESSION FOLDER...: a Python expression over `a`, `b` ..., the logs of the folders; prints it where it does not hold.
judge() {
  "${PYTHON:-python3}" - "$@" <<'END' || echo "its log cannot be judged"
import json
import sys
from types import SimpleNamespace


def read(folder):
    with open(f"{folder}/log.jsonl", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return SimpleNamespace(rows=rows, loss={r["step"]: r["loss"] for r in rows if r["event"] == "step"},
                           start=[r for r in rows if r["event"] == "start"], steps=[r for r in rows if r["event"] == "step"],
                           end=rows[-1], resumed=[r for r in rows if r["event"] == "resume"])


def apart(one, other):
    """The largest difference of two curves, as a part of the loss."""
    assert one.loss.keys() == other.loss.keys(), (sorted(one.loss), sorted(other.loss))
    return max(abs(one.loss[s] - other.loss[s]) / one.loss[s] for s in one.loss)


logs = dict(zip("abcd", map(read, sys.argv[2:])))
if not eval(sys.argv[1], {"apart": apart, **logs}):
    print(f"does not hold: {sys.argv[1]}")
if len(logs) > 1:
    print(f"# curves apart by {max(apart(logs['a'], one) for one in logs.values()):.2g}", file=sys.stderr)
last = logs["a"].steps[-1]
print("# " + json.dumps({k: last.get(k) for k in ("step", "loss", "tokens_per_second", "comm_share", "comm_from", "mfu")}), file=sys.stderr)
END
}

# train NAME STATUS LINE...: runs the line, which writes to $RUNS/NAME, and appends what it said to the log.
train() {
  local name=$1 expected=$2 log=$OUT/train-$1.log status=0
  shift 2
  { versions; echo "\$ $*"; } >>"$log"
  timeout -k 5 120 "$@" --out "$RUNS/$name" >>"$log" 2>&1 </dev/null || status=$?
  echo "# exit status $status" >>"$log"
  [ "$status" = "$expected" ] || echo "exit status $status instead of $expected"
}

# close NAME FAULTS: counts a case.
close() {
  CASES=$((CASES + 1))
  sed -i "s|$PWD/||g; s|\\b$(uname -n)\\b|host|g" "$OUT/train-$1.log"
  if [ -z "$2" ]; then RIGHT=$((RIGHT + 1)); echo "$1: as expected"; else echo "$1: NOT as expected: $2" | tee -a "$OUT/train-$1.log"; fi
}

# case_of NAME EXPRESSION LINE...: a run that ends with 0, judged beside the curve of one rank.
case_of() {
  local name=$1 expression=$2
  shift 2
  wanted "$name" || return 0
  : >"$OUT/train-$name.log"
  close "$name" "$(train "$name" 0 "$@"; judge "$expression" "$RUNS/$name" "$RUNS/one" 2>>"$OUT/train-$name.log")"
}

# Stopped by a signal after some steps, and gone on with by the same line.
stopped() {
  local name=$1
  shift
  wanted "$name" || return 0
  : >"$OUT/train-$name.log"
  close "$name" "$(
    (until grep -qs '"step": 9,' "$RUNS/$name/log.jsonl"; do sleep 0.05; done; scancel --signal=USR1 --user=root) &
    train "$name" 75 "$@"
    wait
    train "$name" 0 "$@"
    judge "a.resumed and 9 <= a.resumed[0]['step'] < 200 and a.end['event'] == 'end' and a.loss.keys() == set(range(1, 201))" \
      "$RUNS/$name" 2>>"$OUT/train-$name.log"
  )"
}

check_machine nccl-launch
command -v "${TRAIN[0]}" >/dev/null || die "no ${TRAIN[0]}"
mkdir -p "$WORK" "$OUT"
rm -rf "$RUNS"
mkdir -p "$RUNS"
trap stop_slurm EXIT
install_packages
start_munge
write_conf
start_slurm
SRUN=(srun --mpi=pmix)
if [ "$PLUGIN" = 1 ]; then SRUN+=(--nccl-tune); else NCCL_SOCKET_IFNAME="=$(awk 'NR > 1 {print $1; exit}' /proc/net/route)"; export NCCL_SOCKET_IFNAME; fi
ONE=("${SRUN[@]}" -n1 nccl-launch -- "${TRAIN[@]}")
TWO=("${SRUN[@]}" -n2 nccl-launch -- "${OWN_HOST[@]}" "${TRAIN[@]}")

ONLY=(one "${ONLY[@]}")
[ "${#ONLY[@]}" -gt 1 ] || ONLY=()
case_of one "a.start[0]['device'] == 'cuda' and a.loss[30] < 0.75 * a.loss[1] and apart(a, b) == 0" "${ONE[@]}" "${SMALL[@]}"
case_of two "a.start[0]['ranks'] == 2 and apart(a, b) < 1e-3 and any(s.get('comm_from') == 'profiler' and 0 < s['comm_share'] < 1 for s in a.steps)" \
  "${TWO[@]}" "${SMALL[@]}"
case_of two-fsdp "a.start[0]['parallel'] == 'fsdp' and apart(a, b) < 1e-3" "${TWO[@]}" "${SMALL[@]}" --parallel fsdp
case_of one-compile "apart(a, b) < 1e-3" "${ONE[@]}" "${SMALL[@]}" --compile
# 0.35 billion parameters: what one H200 makes of it.
BIG=(--layers 24 --heads 16 --width 1024 --context 1024 --global-batch 32 --micro-batch 16 --lr 3e-4 --warmup 10 --steps 30 --log-every 10
     --eval-share 0.01 --eval-windows 8)
for kind in ddp fsdp; do
  name=big-$kind
  wanted "$name" || continue
  : >"$OUT/train-$name.log"
  close "$name" "$(
    train "$name" 0 "${ONE[@]}" "${BIG[@]}" --parallel "$kind"
    judge "a.start[0]['precision'] == 'bf16' and a.loss[30] < 0.8 * a.loss[1] and 0.05 < a.steps[-1]['mfu'] < 0.8" "$RUNS/$name" \
      2>>"$OUT/train-$name.log"
  )"
done
stopped stopped "${TWO[@]}" "${SMALL[@]}" --steps 200
stopped stopped-fsdp "${TWO[@]}" "${SMALL[@]}" --steps 200 --parallel fsdp
echo "$RIGHT of $CASES as expected"
[ "$RIGHT" = "$CASES" ]
