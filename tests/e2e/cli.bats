#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The command nccl-tune as a user types it: formats, exit statuses, and what it says about bad input.

bats_require_minimum_version 1.5.0
load cluster

TUNE=$CLONE/bazel-bin/cli/nccl-tune
HOST=$CLONE/tests/hosts/server1.capture

setup_file() {
  make_state
  up cli --nodes 1
}

teardown_file() {
  remove_state
}

node_run() { "$CLUSTER" run --name cli --node server1 "$@" 3>&-; }

@test "env in its three formats" {
  run -0 "$TUNE" env --host "$HOST"
  [ "$output" = "GLOO_SOCKET_IFNAME=ens11f1
NCCL_IB_GID_INDEX=3
NCCL_IB_HCA='=mlx5_1:1'
NCCL_SOCKET_IFNAME='=ens11f1'
NVSHMEM_HCA_LIST=mlx5_1:1
NVSHMEM_IB_GID_INDEX=3
TP_SOCKET_IFNAME=ens11f1" ]
  run -0 "$TUNE" env --host "$HOST" --format conf
  [ "$output" = "GLOO_SOCKET_IFNAME=ens11f1
NCCL_IB_GID_INDEX=3
NCCL_IB_HCA==mlx5_1:1
NCCL_SOCKET_IFNAME==ens11f1
NVSHMEM_HCA_LIST=mlx5_1:1
NVSHMEM_IB_GID_INDEX=3
TP_SOCKET_IFNAME=ens11f1" ]
  run -0 "$TUNE" env --host "$HOST" --format json
  [ "$(/usr/bin/python3 -c 'import json,sys; print([v for v in sorted(json.load(sys.stdin).items()) if "NCCL" in v[0]])' <<<"$output")" = \
    "[('NCCL_IB_GID_INDEX', '3'), ('NCCL_IB_HCA', '=mlx5_1:1'), ('NCCL_SOCKET_IFNAME', '=ens11f1')]" ]
}

@test "the shell takes what env prints" {
  eval "$("$TUNE" env --host "$HOST")"
  [ "$NCCL_IB_HCA $NCCL_SOCKET_IFNAME" = "=mlx5_1:1 =ens11f1" ]
}

@test "explain and facts are text within 80 columns, and JSON" {
  for command in explain facts; do
    run -0 "$TUNE" "$command" --host "$HOST"
    [ -z "$(awk 'length > 80 && $0 !~ /^ *[^ ]+$/' <<<"$output")" ]
    run -0 "$TUNE" "$command" --host "$HOST" --format json
    /usr/bin/python3 -m json.tool <<<"$output" >/dev/null
  done
}

@test "facts shows the conf files and the library that NCCL would take" {
  local root=$BATS_TEST_TMPDIR/root
  mkdir -p "$root"/{etc,usr/lib64,sys/class/net/lo}
  echo unknown >"$root/sys/class/net/lo/operstate"
  printf 'NCCL_DEBUG=INFO\nNCCL_IB_HCA = mlx5\n' >"$root/etc/nccl.conf"
  printf 'some bytes\0NCCL version 2.28.9+cuda13.0\0more' >"$root/usr/lib64/libnccl.so.2"
  run -0 "$TUNE" facts --root "$root"
  [[ $output == *"/usr/lib64/libnccl.so.2, 2.28.9 by its text"* ]]
  [[ $output == *"/etc/nccl.conf"*"line 1"*"NCCL_DEBUG=INFO"* ]]
  [[ $output == *'the name "NCCL_IB_HCA " has blanks'* ]]
  # Another machine's facts do not depend on this shell.
  NCCL_CONF_FILE=/nowhere run -0 "$TUNE" facts --root "$root"
  [[ $output != *nowhere* ]]
}

@test "a node's own capture gives the node's own plan, and names nobody" {
  # The cluster's MAC addresses are of the form that a scrubbed one has: give the node a card maker's.
  node_run ip link set eno1 address 0c:42:a1:77:00:01
  node_run ip link set ens11f1 address 0c:42:a1:77:00:02
  node_run nccl-tune capture /tmp/own.capture
  node_run cat /tmp/own.capture >"$BATS_TEST_TMPDIR/own.capture"
  local live
  live=$(node_run nccl-tune env)
  [ "$("$TUNE" env --host "$BATS_TEST_TMPDIR/own.capture")" = "$live" ]
  # Neither the node's MAC addresses nor its name nor its firmware's GUIDs.
  local mac
  for mac in $(node_run cat /sys/class/net/ens11f1/address /sys/class/net/eno1/address); do
    run ! grep -i "$mac" "$BATS_TEST_TMPDIR/own.capture"
  done
  run ! grep -i server1 "$BATS_TEST_TMPDIR/own.capture"
}

@test "bad usage: exit status 2, the word and what is valid" {
  run -2 "$TUNE"
  [[ $output == *"no command"*"expected facts, env, explain, capture, check-policy or doctor"* ]]
  run -2 "$TUNE" tune
  [[ $output == *'unknown command: got "tune"'* ]]
  run -2 "$TUNE" env --hots x
  [[ $output == *'unknown option: got "--hots"'* ]]
  run -2 "$TUNE" env --format yaml
  [[ $output == *'got "yaml", expected shell|json|conf'* ]]
}

@test "a machine that cannot be read: exit status 1, what and where" {
  run -1 "$TUNE" env --root /proc/nonexistent
  [[ $output == *"/proc/nonexistent"*"No such file"* ]]
  run -1 "$TUNE" env --root "$BATS_TEST_TMPDIR"
  [[ $output == *"no machine here"* ]]
  run -1 "$TUNE" env --host /proc/nonexistent/capture
  [[ $output == *"/proc/nonexistent"* ]]
  run -1 "$TUNE" env --host /etc/passwd
  [[ $output == *"/etc/passwd:1: not a capture"*'expected "nccl-tune-capture 1"'* ]]
  : >"$BATS_TEST_TMPDIR/empty"
  run -1 "$TUNE" explain --host "$BATS_TEST_TMPDIR/empty"
  [[ $output == *"empty capture"* ]]
  head -c 100000 /dev/urandom >"$BATS_TEST_TMPDIR/binary"
  run -1 "$TUNE" facts --host "$BATS_TEST_TMPDIR/binary"
  [[ $output == *"nccl-tune: "* ]]
  sed 's/= 4: ACTIVE/~ 4: ACTIVE/' "$HOST" >"$BATS_TEST_TMPDIR/broken"
  run -1 "$TUNE" facts --host "$BATS_TEST_TMPDIR/broken"
  [[ $output =~ broken:[0-9]+:\ unknown\ operator ]]
}

@test "capture does not lose an old file when it cannot write" {
  run -1 "$TUNE" capture /proc/nonexistent/file --host "$HOST"
  [[ $output == *"/proc/nonexistent/file: cannot write"* ]]
  [ ! -e /proc/nonexistent ]
  echo old >"$BATS_TEST_TMPDIR/old"
  run -1 "$TUNE" capture "$BATS_TEST_TMPDIR/old" --host /etc/passwd
  [ "$(cat "$BATS_TEST_TMPDIR/old")" = old ]
}

@test "a closed standard output loses nothing silently, and goes into no file" {
  run -1 --separate-stderr sh -c '"$0" facts --host "$1" >&-' "$TUNE" "$HOST"
  [ "${stderr-}" = "nccl-tune: cannot write to standard output" ]
  # Its own lines would go into the file that took their number.
  run -0 sh -c '"$0" capture "$1" --host "$2" 2>&-' "$TUNE" "$BATS_TEST_TMPDIR/own" "$HOST"
  "$TUNE" facts --host "$BATS_TEST_TMPDIR/own" >/dev/null
}

@test "capture replaces no device, and - is standard output" {
  run -1 "$TUNE" capture /dev/null --host "$HOST"
  [[ $output == *"/dev/null: not replaced: it is no regular file"* ]]
  [ -c /dev/null ]
  run -0 "$TUNE" capture - --host "$HOST"
  [ "${lines[0]}" = "nccl-tune-capture 1" ]
}

@test "a capture may come from a pipe" {
  run -0 "$TUNE" env --host <(cat "$HOST")
  [[ $output == *"NCCL_IB_GID_INDEX=3"* ]]
}

@test "output that cannot be written is an error" {
  [ -e /dev/full ] || skip "no /dev/full"
  run -1 bash -c "'$TUNE' explain --host '$HOST' >/dev/full"
  [[ $output == *"cannot write to standard output"* ]]
}

@test "check-policy: a summary, or every fault and exit status 2" {
  local policy=$BATS_TEST_TMPDIR/policy.toml
  install -m 644 "$CLONE/etc/nccl-tune.toml" "$policy"
  run -0 --separate-stderr "$TUNE" check-policy "$policy"
  [ "$output" = "$policy: no fault

Everywhere
  nothing" ]
  chmod 600 "$policy"
  chmod 700 "$BATS_TEST_TMPDIR"
  run -0 --separate-stderr "$TUNE" check-policy "$policy"
  # shellcheck disable=SC2154  # run sets it
  [[ $stderr == "nccl-tune: note: $policy: ignored like this: only some users may read it: chmod a+r"* ]]
  [[ $stderr == *"note: $policy: users' jobs cannot read it in this place: only some users may enter the folder /"*"chmod a+x /"* ]]
  chmod 644 "$policy"
  printf 'mode = "auto"\n[[when]]\nnodes = "node[01-16]"\nmode = "off"\n' >"$policy"
  run -0 "$TUNE" check-policy "$policy"
  [[ $output == *"Where nodes node[01-16] (line 2)"* ]]
  printf 'mod = "auto"\n[set]\nPATH = "/x"\n[devices]\nexclude = [{ subnet = "10.0.0.7/24" }]\n' >"$policy"
  run -2 --separate-stderr "$TUNE" check-policy "$policy"
  [ -z "$output" ]
  [[ $stderr == *'policy.toml:1: unknown key: got "mod"'*"Did you mean mode?"* ]]
  [[ $stderr == *'policy.toml:3: set.PATH: not a variable that can be set'* ]]
  [[ $stderr == *'policy.toml:5: devices.exclude[1].subnet: an address of a host'*"expected 10.0.0.0/24"* ]]
  [[ $stderr == *"3 faults; this policy would be ignored"* ]]
}

@test "check-policy of what is no policy" {
  run -2 "$TUNE" check-policy a b
  [[ $output == *"unexpected word after check-policy"* ]]
  run -1 "$TUNE" check-policy /proc/nonexistent/policy.toml
  [[ $output == *"/proc/nonexistent/policy.toml: No such file"* ]]
  run -1 "$TUNE" check-policy "$BATS_TEST_TMPDIR"
  [[ $output == *"Is a directory"* ]]
  run -1 "$TUNE" check-policy /dev/zero
  [[ $output == *"longer than 1048576 bytes"* ]]
  head -c 2000 /dev/urandom >"$BATS_TEST_TMPDIR/binary"
  run -2 "$TUNE" check-policy "$BATS_TEST_TMPDIR/binary"
  [[ $output == *"nccl-tune: "* ]]
  run -2 "$TUNE" check-policy /etc/passwd
  [[ $output == *"/etc/passwd:1: not TOML: "* ]]
  run -0 "$TUNE" check-policy <(echo 'mode = "off"')
  [[ $output == *"no fault"* ]]
  run -0 "$TUNE" check-policy - <<<'mode = "off"'
  [[ $output == "standard input: no fault"* ]]
}

# A Slurm that is set up in one folder, with the plugin of this machine's release.
slurm_root() {
  local root=$1
  mkdir -p "$root"/{etc/slurm/plugstack.conf.d,etc/nccl-tune,usr/lib/nccl-tune,srv}
  chmod 755 "$root" "$root"/{etc,etc/slurm,etc/slurm/plugstack.conf.d,etc/nccl-tune,usr,usr/lib,usr/lib/nccl-tune,srv}
  cp -L "$CLONE/bazel-bin/spank/spank_nccl_tune.so" "$root/usr/lib/nccl-tune/"
  echo ClusterName=c >"$root/etc/slurm/slurm.conf"
  echo 'include /etc/slurm/plugstack.conf.d/*.conf' >"$root/etc/slurm/plugstack.conf"
  install -m 644 "$CLONE/etc/nccl_tune.conf" "$root/etc/slurm/plugstack.conf.d/zz-nccl_tune.conf"
  chmod -R a+r "$root"
}

@test "doctor: what is well, and each fault with what to do" {
  local root=$BATS_TEST_TMPDIR/root drop_in=etc/slurm/plugstack.conf.d/zz-nccl_tune.conf
  slurm_root "$root"
  run -0 "$TUNE" doctor --root "$root"
  [[ $(tr -s '\n ' ' ' <<<"$output") == *"none, so detection decides verdict loaded"*"; active in jobs that ask"* ]]
  # The policy that the drop-in names; a mode that only root can read; a link that leads nowhere.
  sed -i 's|^optional.*|& default=policy policy=/srv/p.toml|' "$root/$drop_in"
  echo 'mode = "auto"' >"$root/srv/p.toml" && chmod 644 "$root/srv/p.toml"
  run -0 "$TUNE" doctor --root "$root"
  [[ $(tr -s '\n ' ' ' <<<"$output") == *"/srv/p.toml, named in /$drop_in:"*"active in every job (auto)"* ]]
  chmod 600 "$root/srv/p.toml"
  run -1 "$TUNE" doctor --root "$root"
  [[ $(tr -s '\n ' ' ' <<<"$output") == *"fault users' jobs do not take the policy: only some users may read it: chmod a+r /srv/p.toml"* ]]
  chmod 644 "$root/srv/p.toml" && chmod 700 "$root/srv"
  run -1 "$TUNE" doctor --root "$root"
  [[ $(tr -s '\n ' ' ' <<<"$output") == *"only some users may enter the folder /srv: chmod a+x /srv"* ]]
  chmod 755 "$root/srv" && ln -sf gone "$root/srv/p.toml"
  run -1 "$TUNE" doctor --root "$root"
  [[ $(tr -s '\n ' ' ' <<<"$output") == *'a link that leads nowhere: got "/srv/p.toml -> gone"'* ]]
  # An argument that the plugin would refuse; a line behind a #; no drop-in.
  sed -i 's|^optional.*|optional /usr/lib/nccl-tune/spank_nccl_tune.so defalt=auto|' "$root/$drop_in"
  run -1 "$TUNE" doctor --root "$root"
  [[ $(tr -s '\n ' ' ' <<<"$output") == *"Did you mean default? Correct it in /$drop_in:"*"But 1 fault above"* ]]
  sed -i 's|^optional|#optional|' "$root/$drop_in"
  run -1 "$TUNE" doctor --root "$root"
  [[ $(tr -s '\n ' ' ' <<<"$output") == *"To do: take the # away from /$drop_in:"* ]]
  rm "$root/$drop_in"
  run -1 "$TUNE" doctor --root "$root"
  [[ $(tr -s '\n ' ' ' <<<"$output") == *"To do: write into a new /$drop_in: optional /usr/lib/nccl-tune/spank_nccl_tune.so"* ]]
}

@test "env and explain with a site's policy" {
  local policy=$BATS_TEST_TMPDIR/policy.toml
  printf 'gid_index = "auto"\n[traffic_class]\ntc = 106\n[interfaces]\nexclude = ["ens11f1"]\n' >"$policy"
  run -0 "$TUNE" env --host "$HOST" --policy "$policy" --format conf
  [[ $output == *"NCCL_IB_TC=106"* && $output == *"NCCL_SOCKET_IFNAME==eno1"* && $output != *GID_INDEX* ]]
  run -0 "$TUNE" explain --host "$HOST" --policy "$policy"
  [[ $output == *"NCCL_IB_TC          106 (site policy, line 3: traffic_class.tc)"* ]]
  [[ $output == *"left out by the site policy, line 5: interfaces.exclude[1]"* ]]
  run -0 "$TUNE" env --host "$HOST" --mpi --format conf
  [[ $output == *"OMPI_MCA_btl_tcp_if_include=ens11f1"* && $output == *"UCX_NET_DEVICES=mlx5_1:1,ens11f1"* ]]
}

@test "the traffic class of the one lossless priority" {
  local own=$BATS_TEST_TMPDIR/own.capture policy=$BATS_TEST_TMPDIR/policy.toml
  local pfc='{"prio_pfc":[false,false,false,true,false,false,false,false]}'
  printf 'in .\ndcb/ens11f1/pfc.json = %s\ndcb/ens11f1/app.json = {"dscp_prio":[[26,3]]}\n' "$pfc" | cat "$HOST" - >"$own"
  run -0 "$TUNE" env --host "$own" --format conf
  [[ $output == *"NCCL_IB_FIFO_TC=106"* && $output == *"NCCL_IB_TC=106"* ]]
  run -0 "$TUNE" facts --host "$own"
  [[ $(tr -s " \n" " " <<<"$output") == *"PFC on priority 3 (DSCP 26)"* ]]
  run -0 "$TUNE" explain --host "$own"
  [[ $output == *"interface ens11f1 = PFC on priority 3, DSCP 26"* ]]
  printf '[traffic_class]\ntc = 98\n' >"$policy"
  run -0 "$TUNE" env --host "$own" --policy "$policy" --format conf
  [[ $output == *"NCCL_IB_TC=98"* && $output != *FIFO_TC* ]]
  sed -i 's/\[\[26,3\]\]/[[24,3],[26,3]]/' "$own"
  run -0 "$TUNE" env --host "$own" --format conf
  [[ $output != *_TC=* ]]
  run -0 "$TUNE" explain --host "$own"
  [[ $output == *"98 (DSCP 24), 106 (DSCP 26): leads to priority 3 on every port"* ]]
  run -0 "$TUNE" explain --host "$HOST"
  [[ $output != *_TC* ]]
}

@test "a policy that turns the tool off, and one with a fault" {
  local policy=$BATS_TEST_TMPDIR/policy.toml
  echo 'mode = "off"' >"$policy"
  run -0 --separate-stderr "$TUNE" env --host "$HOST" --policy "$policy"
  [ -z "$output" ]
  # shellcheck disable=SC2154  # run sets it
  [[ $stderr == *"the site's policy turns the tool off on this node"* ]]
  run -0 "$TUNE" explain --host "$HOST" --policy "$policy"
  [[ $output == *"the site's policy turns the tool off on this node"* && $output == *"NCCL_IB_HCA         =mlx5_1:1"* ]]
  echo 'mode = "of"' >"$policy"
  run -2 "$TUNE" env --host "$HOST" --policy "$policy"
  [[ $output == *"policy.toml:1"*'got "of"'* ]]
  run -1 "$TUNE" env --host "$HOST" --policy "$BATS_TEST_TMPDIR/none"
  [[ $output == *none* ]]
}
