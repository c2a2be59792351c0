#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The plugin of each Slurm release on this Slurm: its own is taken, every other is refused with a clear line and the job
# runs, as it does with what is no plugin at all.

bats_require_minimum_version 1.5.0
load cluster

setup_file() {
  make_state
  up releases --nodes 2
  cp -L "$CLONE"/bazel-bin/spank/spank_nccl_tune_*.so "$NCCL_TUNE_CLUSTER_DIR/releases/bin/"
}

teardown_file() {
  remove_state
}

head_run() { "$CLUSTER" run --name releases "$@" 3>&-; }

# The release of this Slurm, and all for which there is a plugin.
own() { head_run srun --version | sed 's/^slurm[^ ]* \([0-9]*\.[0-9]*\).*/\1/'; }
releases() { sed -n 's/^    "\([0-9.]*\)",$/\1/p' "$CLONE/spank/releases.bzl"; }

# Makes a file of the cluster's bin folder the only plugin; a line of the drop-in, so that daemons read it at each step.
use() { echo "optional /run/cluster/bin/$1" >"$NCCL_TUNE_CLUSTER_DIR/releases/conf/plugstack.conf.d/nccl_tune.conf"; }

# Steps in which the plugin says nothing of its own.
SHOW='echo "ran on $(hostname) with ${NCCL_SOCKET_IFNAME-none}"'
one_each() { head_run srun -N2 --ntasks-per-node=1 "$@" sh -c "$SHOW"; }
none_tuned=$'ran on server1 with none\nran on server2 with none'

@test "there is a plugin for each release of the table" {
  [ "$(releases | wc -l)" -ge 8 ]
  local release
  for release in $(releases); do [ -f "$NCCL_TUNE_CLUSTER_DIR/releases/bin/spank_nccl_tune_$release.so" ]; done
}

@test "the one of this Slurm's release tunes" {
  use "spank_nccl_tune_$(own).so"
  run -0 --separate-stderr one_each --nccl-tune
  [ "$(sort <<<"$output")" = $'ran on server1 with =ens11f1\nran on server2 with =ens11f1' ]
  # shellcheck disable=SC2154  # run sets it
  [ -z "$stderr" ]
}

@test "every other one is refused with a clear line, and the job runs" {
  local release
  for release in $(releases); do
    [ "$release" != "$(own)" ] || continue
    use "spank_nccl_tune_$release.so"
    run -0 --separate-stderr one_each
    echo "$release: $output $stderr"
    [ "$(sort <<<"$output")" = "$none_tuned" ]
    # Which file, and for which Slurm it is.
    [[ $stderr == *"ncompatible"*"$release"* ]]
    [[ $stderr == *"spank_nccl_tune_$release.so"* ]]
  done
}

@test "a batch job runs too, and its output holds nothing of it but that line" {
  local out=/run/cluster/batch.out release
  release=$(releases | grep -vx "$(own)" | head -n 1)
  use "spank_nccl_tune_$release.so"
  head_run sh -c "printf '#!/bin/sh\necho batch ran\n' >/tmp/job && sbatch -W -Q -o $out /tmp/job"
  run -0 head_run cat "$out"
  [ "$(grep -v ncompatible <<<"$output")" = "batch ran" ]
}

@test "the option is then unknown: that command ends before anything starts, and says so" {
  use "spank_nccl_tune_$(releases | grep -vx "$(own)" | head -n 1).so"
  run ! one_each --nccl-tune
  [[ $output == *"unrecognized option '--nccl-tune'"* ]]
  [ -z "$(head_run squeue -h)" ]
}

@test "a plugin that is missing, empty or no library: the job runs" {
  head_run sh -c 'touch /run/cluster/bin/empty.so; cp /etc/passwd /run/cluster/bin/text.so'
  local file
  for file in missing.so empty.so text.so; do
    use "$file"
    run -0 --separate-stderr one_each
    [ "$(sort <<<"$output")" = "$none_tuned" ]
  done
}

@test "no node was drained by any of this" {
  idle() { [ "$(head_run sinfo -h -N -o %t | sort -u)" = idle ]; }
  eventually idle
  run -0 head_run sinfo -h -R
  [ -z "$output" ]
}
