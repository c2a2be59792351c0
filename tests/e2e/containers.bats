#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Who else changes a task's environment, and who wins: a container plugin before ours and after it, and task prologs. The
# container plugin is tests/spank/container_stand_in.cc, which treats the environment as pyxis does.

bats_require_minimum_version 1.5.0
load cluster

INSIDE=/run/cluster

setup_file() {
  make_state
  up containers --nodes 2
  add_test_plugins containers //tests/spank:container_stand_in
}

setup() { FILES=$NCCL_TUNE_CLUSTER_DIR/containers; }
teardown_file() { remove_state; }

head_run() { "$CLUSTER" run --name containers "$@" 3>&-; }

# The container plugin's place: before ours, whose drop-in is nccl_tune.conf, or after it.
container_is() {
  local folder=$FILES/conf/plugstack.conf.d name
  case $1 in before) name=a_container ;; after) name=z_container ;; esac
  rm -f "$folder"/?_container.conf
  echo "optional $INSIDE/bin/container_stand_in.so" >"$folder/$name.conf"
}

# The image of the next steps: NAME=VALUE each.
image_has() { printf '%s\n' "$@" >"$FILES/image"; }

SHOW='echo "$(hostname) ${NCCL_IB_HCA-none} ${NCCL_IB_GID_INDEX-none} ${NCCL_SOCKET_IFNAME-none}"'
in_image() { head_run srun -N1 -w server1 --container-image=$INSIDE/image "$@"; }

# What a task's NCCL_TUNE_PLAN says of three variables, and of which set ones it is not true, from its environment.
CLAIMS='import json, sys
env = dict(line.split("=", 1) for line in sys.stdin.read().splitlines() if "=" in line)
plan = json.loads(env["NCCL_TUNE_PLAN"])
names = ("NCCL_IB_HCA", "NCCL_IB_GID_INDEX", "NCCL_SOCKET_IFNAME")
print("set:", *(n for n in names if n in plan["set"]))
print("kept:", *(f"{n}={v}" for n, v in sorted(plan.get("kept", {}).items())))
print("untrue:", *(n for n, v in plan["set"].items() if env.get(n) != v))'
claims() { in_image "$@" env | /usr/bin/python3 -c "$CLAIMS"; }

@test "container before ours: the image wins, explain says so once, and the plan does not call it ours" {
  container_is before
  image_has NCCL_IB_HCA=mlx5_0:1 HOME=/root
  run -0 --separate-stderr head_run srun -N2 -n4 --container-image=$INSIDE/image --nccl-tune=explain sh -c "$SHOW"
  [ "$(sort -u <<<"$output")" = $'server1 mlx5_0:1 none =ens11f1\nserver2 mlx5_0:1 none =ens11f1' ]
  # shellcheck disable=SC2154  # run sets it
  [ "$(grep 'since this plan' <<<"$stderr")" = "nccl-tune: server1: since this plan was made a container or another\
 plugin has set NCCL_IB_HCA=mlx5_0:1, which stays; left unset with it: NCCL_IB_GID_INDEX, NVSHMEM_HCA_LIST, NVSHMEM_IB_GID_INDEX" ]
  [ "$(claims --nccl-tune)" = $'set: NCCL_SOCKET_IFNAME\nkept: NCCL_IB_HCA=mlx5_0:1\nuntrue:' ]
  # Without explain nothing is said, and without the option nothing is ours.
  run -0 --separate-stderr in_image --nccl-tune sh -c "$SHOW"
  [ "$output$stderr" = "server1 mlx5_0:1 none =ens11f1" ]
  [ "$(in_image sh -c "$SHOW")" = "server1 mlx5_0:1 none none" ]
}

@test "container before ours: an image without variables of ours changes nothing" {
  container_is before
  image_has PYTORCH_VERSION=2 NCCL_DEBUG=WARN
  run -0 --separate-stderr in_image --nccl-tune=explain sh -c "$SHOW"
  [ "$output" = "server1 =mlx5_1:1 3 =ens11f1" ]
  [[ $stderr != *"since this plan"* ]]
}

@test "container before ours: the user's value over the image's, by --container-env and by set=" {
  container_is before
  image_has NCCL_IB_HCA=mlx5_0:1
  [ "$(in_image --export=ALL,NCCL_IB_HCA=mlx5_1 --nccl-tune sh -c "$SHOW")" = "server1 mlx5_0:1 none =ens11f1" ]
  [ "$(in_image --export=ALL,NCCL_IB_HCA=mlx5_1 --container-env=NCCL_IB_HCA --nccl-tune sh -c "$SHOW")" = \
    "server1 mlx5_1 none =ens11f1" ]
  [ "$(in_image --nccl-tune=set=NCCL_IB_HCA:=mlx5_1:1 sh -c "$SHOW")" = "server1 =mlx5_1:1 none =ens11f1" ]
  [ "$(in_image --nccl-tune=unset=NCCL_IB_HCA sh -c "$SHOW")" = "server1 none none =ens11f1" ]
}

@test "container after ours: ours enter, the image wins over them, but for those in --container-env" {
  container_is after
  image_has NCCL_IB_HCA=mlx5_0:1
  [ "$(in_image --nccl-tune sh -c "$SHOW")" = "server1 mlx5_0:1 3 =ens11f1" ]
  [ "$(in_image --container-env=NCCL_IB_HCA --nccl-tune sh -c "$SHOW")" = "server1 =mlx5_1:1 3 =ens11f1" ]
  # Nobody can have told the plan; what it says of this one is not so, and by that it is nobody's but the image's.
  [ "$(claims --nccl-tune | tail -n 1)" = "untrue: NCCL_IB_HCA" ]
  [ "$(claims --container-env=NCCL_IB_HCA --nccl-tune | tail -n 1)" = "untrue:" ]
  rm "$FILES"/conf/plugstack.conf.d/?_container.conf
}

PROLOG='#!/bin/sh
echo export NCCL_IB_HCA=mlx5_0:1
echo unset NCCL_SOCKET_IFNAME
echo print from the prolog'

# What nccl-tune says in a task, whose environment it reads, in one line.
seen_from_task() { head_run srun -N1 -w server1 "$@" nccl-tune explain | tr -s '\n ' ' '; }

@test "--task-prolog has the last word; nccl-tune in the task sees it" {
  echo "$PROLOG" >"$FILES/prolog"
  chmod 755 "$FILES/prolog"
  run -0 head_run srun -N1 -w server1 --task-prolog=$INSIDE/prolog --nccl-tune sh -c "$SHOW"
  [ "$(sort <<<"$output")" = $'from the prolog\nserver1 mlx5_0:1 3 none' ]
  # The plugin's explain comes before it.
  run -0 --separate-stderr head_run srun -N1 -w server1 --task-prolog=$INSIDE/prolog --nccl-tune=explain true
  [[ $stderr == *"NCCL_IB_HCA         =mlx5_1:1"* ]]
  run -0 seen_from_task --task-prolog=$INSIDE/prolog --nccl-tune
  [[ $output == *"NCCL_IB_HCA mlx5_0:1 (yours, kept)"* ]]
}

@test "a step inside it keeps what the prolog has set, and computes the rest again" {
  run -0 --separate-stderr head_run srun -N1 -n1 -w server1 --task-prolog=$INSIDE/prolog --nccl-tune sh -c \
    "srun -N1 -n1 --overlap --nccl-tune sh -c '$SHOW'"
  [ "$(grep server <<<"$output")" = "server1 mlx5_0:1 none =ens11f1" ]
  [[ $stderr == *"nccl-tune: server1: NCCL_IB_HCA=mlx5_0:1: mlx5_0:1: its port is not active"* ]]
}

@test "the site's TaskProlog likewise" {
  head_run sh -c "echo TaskProlog=$INSIDE/prolog >>$INSIDE/conf/slurm.conf && scontrol reconfigure"
  run -0 head_run srun -N2 --ntasks-per-node=1 --nccl-tune sh -c "$SHOW"
  [ "$(grep server <<<"$output" | sort)" = $'server1 mlx5_0:1 3 none\nserver2 mlx5_0:1 3 none' ]
  run -0 seen_from_task --nccl-tune
  [[ $output == *"NCCL_IB_HCA mlx5_0:1 (yours, kept)"* ]]
}

@test "no node was drained by any of this" {
  idle() { [ "$(head_run sinfo -h -N -o %t | sort -u)" = idle ]; }
  eventually idle
}
