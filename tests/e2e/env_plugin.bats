#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The env plugin in the real NCCL, on nodes of the embedded cluster: however it is found, the interface that NCCL reports
# is the one that `nccl-tune env` names on that node. ncclGetUniqueId needs no GPU.

bats_require_minimum_version 1.5.0
load cluster

BIN=$CLONE/bazel-bin
PLUGIN=/run/cluster/bin/libnccl-env-nccl-tune.so
PROBE=/run/cluster/bin/bootstrap_probe
NODES=(server1 server2 server3)

# A server with one rail, a desktop with a ring, a container beside a bridge of virtual machines.
MACHINES=(--machine server1=server1 --machine server2=spark-ring-four-up
          --machine server3=container-no-verbs-virbr0-duplicate-ip)

setup_file() {
  make_state
  (cd "$CLONE" && . tools/bazel.bash &&
    bazel_command build --noshow_progress //tests/nccl:bootstrap_probe //envplugin:libnccl-env-nccl-tune.so \
      //cli:nccl-tune //spank:spank_nccl_tune.so) \
    >"$NCCL_TUNE_CLUSTER_DIR/build.log" 2>&1 3>&- || { cat "$NCCL_TUNE_CLUSTER_DIR/build.log"; return 1; }
  "$BIN/tests/nccl/bootstrap_probe" >"$NCCL_TUNE_CLUSTER_DIR/here" 2>&1 || true
  [ -z "$(why_not)" ] || return 0
  up envplugin --nodes "${#NODES[@]}" "${MACHINES[@]}"
  cp -L "$BIN/tests/nccl/bootstrap_probe" "$NCCL_TUNE_CLUSTER_DIR/envplugin/bin/"
  # What a site or a user puts on the loader's path.
  mkdir "$NCCL_TUNE_CLUSTER_DIR/envplugin/default"
  ln -s "$PLUGIN" "$NCCL_TUNE_CLUSTER_DIR/envplugin/default/libnccl-env.so"
}

teardown_file() {
  remove_state
}

# Why these tests cannot run here; nothing: they can.
why_not() {
  local here version
  here=$(cat "$NCCL_TUNE_CLUSTER_DIR/here")
  if [[ $here == *"no libnccl.so.2"* ]]; then
    echo "NCCL is not installed: no libnccl.so.2 found by the loader or in /usr/local/cuda/lib64"
    return
  fi
  version=$(cut -d' ' -f2 <<<"$here")
  [ "$(printf '%s\n' 2.28.7 "$version" | sort -V | head -n 1)" = 2.28.7 ] ||
    echo "NCCL $version loads no env plugin: 2.28.7 is the first that does"
}

setup() {
  local why
  needs_host NCCL
  why=$(why_not)
  [ -z "$why" ] || skip "$why"
}

# A command on a node. Its own output is kept apart from what libraries say.
on() { "$CLUSTER" run --name envplugin --node "$@" 3>&-; }

# The interface that the command says is ours on a node.
ours() { on "$1" nccl-tune env --format conf | sed -n 's/^NCCL_SOCKET_IFNAME==//p'; }

# What NCCL takes on a node for a process that is started by the rest of the words: its interface. The probe's third word
# is NCCL_SOCKET_IFNAME of its process.
taken() {
  local node variable interface
  read -r node _ variable interface _ < <(on "$@" "$PROBE") || return 1
  [ "$node" = "$1" ] || return 1
  echo "$interface${VARIABLE:+ $variable}"
}

# Runs the words with a file of /etc as given, for them only.
# shellcheck disable=SC2016  # for the shell on the node
WITH_FILE='mkdir /tmp/etc.$$ && cp -a /etc/. /tmp/etc.$$ && mkdir -p "$(dirname "/tmp/etc.$$/$1")" &&
  printf "%s\n" "$2" >"/tmp/etc.$$/$1" && mount --bind "/tmp/etc.$$" /etc && shift 2 && exec "$@"'
in_etc() {
  local node=$1 file=$2 text=$3
  shift 3
  taken "$node" unshare -m sh -c "$WITH_FILE" sh "$file" "$text" "$@"
}

@test "without the plugin NCCL takes another interface somewhere, so that what follows means something" {
  local node other=0
  for node in "${NODES[@]}"; do
    echo "$node: NCCL alone takes $(taken "$node" env), ours is $(ours "$node")"
    [ -n "$(ours "$node")" ]
    [ "$(taken "$node" env)" = "$(ours "$node")" ] || other=$((other + 1))
  done
  [ "$other" -ge 1 ]
}

@test "by NCCL_ENV_PLUGIN: the interface is ours, and the process's environment is not touched" {
  local node
  for node in "${NODES[@]}"; do
    [ "$(VARIABLE=1 taken "$node" env NCCL_ENV_PLUGIN="$PLUGIN")" = "$(ours "$node") -" ]
  done
}

@test "by NCCL_ENV_PLUGIN=nccl-tune, where the loader finds it" {
  [ "$(taken server3 env NCCL_ENV_PLUGIN=nccl-tune LD_LIBRARY_PATH=/run/cluster/bin)" = "$(ours server3)" ]
}

@test "with a scrubbed environment, by the default name" {
  local node
  for node in "${NODES[@]}"; do
    [ "$(taken "$node" env -i LD_LIBRARY_PATH=/run/cluster/default)" = "$(ours "$node")" ]
  done
}

@test "with a scrubbed environment, by a line in /etc/nccl.conf" {
  local node
  for node in "${NODES[@]}"; do
    [ "$(in_etc "$node" nccl.conf "NCCL_ENV_PLUGIN=$PLUGIN" env -i)" = "$(ours "$node")" ]
  done
}

@test "the user's own value wins, from the environment and from /etc/nccl.conf" {
  [ "$(ours server3)" != lo ]
  [ "$(taken server3 env NCCL_ENV_PLUGIN="$PLUGIN" NCCL_SOCKET_IFNAME==lo)" = lo ]
  local conf=$'NCCL_SOCKET_IFNAME==lo\nNCCL_ENV_PLUGIN='$PLUGIN
  [ "$(in_etc server3 nccl.conf "$conf" env -i)" = lo ]
}

@test "NCCL_TUNE=off and the policy's mode off: as without the plugin" {
  local node alone
  for node in "${NODES[@]}"; do
    alone=$(taken "$node" env)
    [ "$(taken "$node" env NCCL_ENV_PLUGIN="$PLUGIN" NCCL_TUNE=off)" = "$alone" ]
    [ "$(in_etc "$node" nccl-tune/nccl-tune.toml 'mode = "off"' env NCCL_ENV_PLUGIN="$PLUGIN")" = "$alone" ]
  done
}

@test "the policy holds inside the process as in Slurm" {
  [ "$(in_etc server1 nccl-tune/nccl-tune.toml 'set.NCCL_SOCKET_IFNAME = "=lo"' env NCCL_ENV_PLUGIN="$PLUGIN")" = lo ]
}

@test "a FIFO in the policy's place stops nobody" {
  [ "$(taken server1 unshare -m sh -c "$WITH_FILE" sh none x sh -c '
    mkdir -p /etc/nccl-tune && mkfifo /etc/nccl-tune/nccl-tune.toml && exec "$@"' sh \
    env NCCL_ENV_PLUGIN="$PLUGIN")" = "$(ours server1)" ]
}

@test "a /sys that is empty, a broken policy and one that others may write: NCCL goes on" {
  local alone no_sys=(unshare -m sh -c 'mount -t tmpfs none /sys && exec "$@"' sh)
  alone=$(taken server1 "${no_sys[@]}" env)
  [ "$(taken server1 "${no_sys[@]}" env NCCL_ENV_PLUGIN="$PLUGIN")" = "$alone" ]
  [ "$(in_etc server1 nccl-tune/nccl-tune.toml 'mode = ' env NCCL_ENV_PLUGIN="$PLUGIN")" = "$(ours server1)" ]
  [ "$(in_etc server1 nccl-tune/nccl-tune.toml 'set.NCCL_SOCKET_IFNAME = "=lo"' \
    sh -c 'chmod 666 /etc/nccl-tune/nccl-tune.toml && exec "$@"' sh env NCCL_ENV_PLUGIN="$PLUGIN")" = "$(ours server1)" ]
}

# shellcheck disable=SC2154  # run sets it
@test "nothing is printed unless NCCL_TUNE asks, and then once, on stderr" {
  run -0 --separate-stderr on server1 env NCCL_ENV_PLUGIN="$PLUGIN" "$PROBE"
  [ "$stderr" = "" ]
  run -0 --separate-stderr on server1 env NCCL_ENV_PLUGIN="$PLUGIN" NCCL_TUNE=explain "$PROBE"
  [ "$(wc -l <<<"$output")" = 1 ]
  [[ $stderr == *"nccl-tune: server1: NCCL_SOCKET_IFNAME"*"=$(ours server1)"* ]]
  [ "$(grep -c 'server1: NCCL_SOCKET_IFNAME' <<<"$stderr")" = 1 ]
  run -0 --separate-stderr on server1 env NCCL_ENV_PLUGIN="$PLUGIN" NCCL_TUNE=dry-run "$PROBE"
  [[ $stderr == "nccl-tune: server1: dry run, nothing is set"* ]]
}

# shellcheck disable=SC2154  # run sets it
@test "beside the Slurm plugin: its values stand, and scrubbed they are decided again" {
  local step=("$CLUSTER" run --name envplugin srun -N3 --ntasks-per-node=1)
  run -0 --separate-stderr "${step[@]}" --nccl-tune --export="ALL,NCCL_ENV_PLUGIN=$PLUGIN,NCCL_TUNE=explain" \
    --nccl-tune=auto "$PROBE" 3>&-
  local node
  for node in "${NODES[@]}"; do
    [[ $output == *"$node "*" =$(ours "$node") $(ours "$node") "* ]]
    [[ $stderr == *"nccl-tune: $node: nothing is set: what the Slurm plugin has set is there"* ]]
  done
  run -0 "${step[@]}" --nccl-tune env -i NCCL_ENV_PLUGIN="$PLUGIN" "$PROBE" 3>&-
  for node in "${NODES[@]}"; do [[ $output == *"$node "*" - $(ours "$node") "* ]]; done
}

@test "a library that is no plugin, or none: NCCL goes on" {
  local alone
  alone=$(taken server1 env)
  [ "$(taken server1 env NCCL_ENV_PLUGIN=/run/cluster/bin/spank_nccl_tune.so)" = "$alone" ]
  [ "$(taken server1 env NCCL_ENV_PLUGIN=none LD_LIBRARY_PATH=/run/cluster/default)" = "$alone" ]
}
