#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs inside a cluster, as root: rounds of 8 steps at once on one node, in turn of root and of a second user, whose
# programs take MASTER_PORT from a range of 8 ports and listen until all 8 do.
#   ports_rounds.sh FOLDER ROUNDS USER
# FOLDER is one that all nodes see and all users may write to. Prints a line for each step: ROUND WORD PORT UID,
# where WORD is "listens", "taken" (another one listens there) or "failed".
set -uo pipefail
folder=$1 rounds=$2 user=$3
cd /
export NCCL_TUNE_PORT_RANGE=20000-20007

# A program that is slow to listen, as one that loads much is; then waits for the others, 20 seconds at most.
# shellcheck disable=SC2016
payload='
  use Socket;
  select(undef, undef, undef, rand(0.2));
  socket(my $own, PF_INET, SOCK_STREAM, 0) or die;
  setsockopt($own, SOL_SOCKET, SO_REUSEADDR, 1);
  my $listens = bind($own, sockaddr_in($ENV{MASTER_PORT}, INADDR_ANY)) && listen($own, 1);
  open(my $out, ">>", $ARGV[0]) or die;
  syswrite($out, "$ARGV[1] " . ($listens ? "listens" : "taken") . " $ENV{MASTER_PORT} $<\n");
  for (1 .. 400) {
    open(my $in, "<", $ARGV[0]) or die;
    my @lines = <$in>;
    last if @lines >= 8;
    select(undef, undef, undef, 0.05);
  }'

roots=(env)
users=(env)
[ "$user" = root ] || users=(setpriv --reuid "$user" --regid "$(id -g "$user")" --clear-groups)
# An allocation of the user that the words before it make; its number.
allocate() { "$@" salloc -N1 -n4 -w server1 --no-shell 2>&1 | sed -n 's/.*Granted job allocation \([0-9]*\).*/\1/p'; }
roots_job=$(allocate "${roots[@]}")
users_job=$(allocate "${users[@]}")
trap 'scancel "$roots_job" "$users_job"' EXIT

for ((round = 1; round <= rounds; ++round)); do
  lines=$folder/round
  : >"$lines" && chmod 666 "$lines"
  for ((step = 1; step <= 8; ++step)); do
    if ((step % 2)); then as=("${roots[@]}") job=$roots_job; else as=("${users[@]}") job=$users_job; fi
    "${as[@]}" srun --jobid="$job" -n1 --exact --mem=0 --mpi=pmix nccl-launch -- perl -e "$payload" "$lines" "$round" ||
      echo "$round failed - $step" >>"$lines" &
  done
  wait
  cat "$lines"
done
