#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each mode of dies ends as its name says.
#   dies_test.sh DIES
set -uo pipefail

dies=$1
fail() {
  echo "dies_test: $1" >&2
  exit 1
}
export SLURM_PROCID=2
while read -r mode status; do
  timeout 20 "$dies" "$mode" >/dev/null 2>&1
  got=$?
  [ "$got" = "$status" ] || fail "$mode: got $got, expected $status"
done <<'EOF'
segv 139
abort 134
exit3 3
kill 137
memory 134
orphans 3
flood 0
nccl 1
EOF
# Those of a session of its own go with it, and it with this test.
for pid in $(pgrep -x -f 'dies-orphan 300'); do
  grep -qz '^SLURM_PROCID=2$' "/proc/$pid/environ" && kill "$pid"
done

# Two that only a signal ends; another rank's mode is waiting, too.
for mode in "hang" "segv 1"; do
  # shellcheck disable=SC2086  # several words on purpose
  timeout 0.3 "$dies" $mode 2>/dev/null
  [ $? = 124 ] || fail "$mode: did not wait"
done
timeout -k 0.3 0.3 "$dies" ignore-term 2>/dev/null
[ $? = 137 ] || fail "ignore-term: ended by SIGTERM"

for wrong in "" "bogus" "segv 1 2"; do
  # shellcheck disable=SC2086
  message=$("$dies" $wrong 2>&1)
  [ $? = 64 ] || fail "accepted: $wrong"
  [[ $message == "dies: expected MODE"*" oom-kill "* ]] || fail "said: $message"
done
echo "dies_test: passed"
