# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Helpers of the end-to-end tests that start clusters of their own. Load with `load cluster`.

CLONE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
CLUSTER=$CLONE/tools/cluster
# shellcheck disable=SC2034  # used by the test files
PLAIN=(setpriv --reuid 65534 --regid 65534 --clear-groups)

# Makes the state folder of this test file, which also marks everything that its clusters start.
make_state() {
  NCCL_TUNE_CLUSTER_DIR=$(mktemp -d "${TMPDIR:-/tmp}/nccl-tune-e2e.XXXXXX")
  chmod 755 "$NCCL_TUNE_CLUSTER_DIR"
  export NCCL_TUNE_CLUSTER_DIR
}

# A copy of the tools, the machines and the product that every user can read, whatever folder the clone is in.
make_plain_clone() {
  PLAIN_CLONE=$NCCL_TUNE_CLUSTER_DIR/clone
  # shellcheck disable=SC2034  # used by the test files
  PLAIN_CLUSTER=$PLAIN_CLONE/tools/cluster
  PLAIN_PRODUCT=$PLAIN_CLONE/product
  chmod 1777 "$NCCL_TUNE_CLUSTER_DIR"
  [ ! -e "$PLAIN_CLONE" ] || return 0
  mkdir -p "$PLAIN_CLONE/tests" "$PLAIN_PRODUCT"
  cp -r "$CLONE/tools" "$CLONE/etc" "$PLAIN_CLONE"
  cp -r "$CLONE/tests/hosts" "$PLAIN_CLONE/tests"
  cp -L "$CLONE"/bazel-bin/{cli/nccl-tune,launcher/nccl-launch,bench/nccl-bench,envplugin/libnccl-env-nccl-tune.so} \
    "$CLONE"/bazel-bin/bench/libnccl_bench_*.so "$CLONE"/bazel-bin/spank/spank_nccl_tune*.so "$PLAIN_PRODUCT"
  [ -z "${NCCL_TUNE_BIN:-}" ] || cp -rL "$NCCL_TUNE_BIN"/. "$PLAIN_PRODUCT"
  chmod -R a+rX "$PLAIN_CLONE"
}

# Stops every cluster of this test file.
remove_state() {
  local folder
  for folder in "$NCCL_TUNE_CLUSTER_DIR"/*/; do
    [ -d "$folder" ] && [ "$(basename "$folder")" != clone ] && "$CLUSTER" down --name "$(basename "$folder")" 3>&-
  done
  rm -rf "$NCCL_TUNE_CLUSTER_DIR"
}

# The processes of a cluster: those started with MARK, and those with its state folder mounted, in any namespace.
processes() {
  { grep -lsz "^MARK=$NCCL_TUNE_CLUSTER_DIR/$1\$" /proc/[0-9]*/environ
    grep -ls "${NCCL_TUNE_CLUSTER_DIR##*/}/$1 " /proc/[0-9]*/mountinfo; } | cut -d/ -f3 | sort -un
}

# What the host must have as many of before and after: mounts with our folder, links. Other clusters' are not on it.
host_things() {
  grep -c "${NCCL_TUNE_CLUSTER_DIR##*/}" /proc/self/mountinfo || true
  ip -o link | cut -d: -f2 | sort
}

# How many network namespaces of its own a cluster has.
network_namespaces() {
  local pid
  for pid in $(processes "$1"); do readlink "/proc/$pid/ns/net" || true; done | sort -u |
    grep -vcx "$(readlink /proc/self/ns/net)"
}

# Skips a test where the clusters' programs are not this machine's, as the library that it needs is not there.
needs_host() { [ "${NCCL_TUNE_SLURM_ROOT:-/}" = / ] || skip "the clusters' root has no $1"; }

# Skips a test where the Slurm of the clusters has no PMIx plugin, as Debian's 26.05. With arguments: if they ask for it.
needs_pmix() {
  local root=${NCCL_TUNE_SLURM_ROOT:-/} plugin
  [ "$root" != / ] || return 0
  [ $# = 0 ] || [[ " $* " == *" --mpi=pmix "* ]] || return 0
  for plugin in "$root"/usr/lib/*/slurm*/mpi_pmix*.so; do
    [ ! -e "$plugin" ] || return 0
  done
  skip "this Slurm has no PMIx plugin"
}

# Like `run`, for what uses MPI. Open MPI crashes in MPI_Init now and then, when another rank's first message comes before
# it is ready (open-mpi/ompi issue 12495; 2 to 5 in 100 times with Debian 13's 5.0.7 here, less with 4.1.4): such a run is
# done again. MPI_CRASH is what the output of one holds. The other ranks would wait for ever, so a step ends 10 seconds after
# its first rank.
MPI_CRASH=mca_pml_ob1_recv_frag_callback_match
run_mpi() {
  local -a command=()
  local word
  for word in "$@"; do
    command+=("$word")
    [ "$word" != srun ] || command+=(--wait=10)
  done
  for _ in 1 2 3 4; do
    run "${command[@]}" 3>&-
    [[ ${output-} == *"$MPI_CRASH"* ]] || return 0
    echo "# Open MPI crashed in MPI_Init: once more" >&3
  done
}

# Variables with which Open MPI sends up to 2 MiB at once over TCP. With a rendezvous its answer waits, at random, behind
# the data of the same direction: a link of 160 Mbit/s then carries half as much.
# shellcheck disable=SC2034  # used by the test files
EAGER=(OMPI_MCA_btl_tcp_{eager_limit,rndv_eager_limit,max_send_size}"=2097152")

# Waits until a command succeeds, at most 10 seconds.
eventually() {
  local deadline=$((SECONDS + 10))
  until "$@"; do
    [ "$SECONDS" -lt "$deadline" ] || { echo "not within 10 seconds: $*"; return 1; }
    read -r -t 0.02 <> <(:) || true
  done
}

none_left() { [ -z "$(processes "$1")" ]; }

# Nothing of a cluster runs, and the host has what it had when BEFORE was filled.
nothing_left() {
  eventually none_left "$1"
  [ "$(network_namespaces "$1")" = 0 ]
  diff <(echo "$BEFORE") <(host_things)
}

# Starts a cluster; further arguments go to `up`.
up() { MARK=$NCCL_TUNE_CLUSTER_DIR/$1 "$CLUSTER" up --name "$@" 3>&-; }

# The init of a cluster's head, and of one of its nodes, as the host counts processes.
head_pid() { cut -d' ' -f1 "$NCCL_TUNE_CLUSTER_DIR/$1/head"; }
node_pid() {
  local pid
  for pid in $(processes "$1"); do
    [ "$(cat "/proc/$pid/comm")" = "$2" ] && echo "$pid"
  done
}

# Starts a cluster in the background and ends `up` with a signal once a file of the state folder is there.
up_until() {
  local name=$1 file=$2 signal=$3
  shift 3
  rm -rf "${NCCL_TUNE_CLUSTER_DIR:?}/$name" # else a file of a former cluster ends it too early
  MARK=$NCCL_TUNE_CLUSTER_DIR/$name "$@" "$CLUSTER" up --name "$name" >/dev/null 2>&1 3>&- &
  local pid=$!
  eventually test -e "$NCCL_TUNE_CLUSTER_DIR/$name/$file"
  kill "-$signal" "$pid"
  wait "$pid"
}

# The release of a cluster's Slurm.
slurm_release() { "$CLUSTER" run --name "$1" srun --version 3>&- | sed 's/^slurm[^ ]* \([0-9]*\.[0-9]*\).*/\1/'; }

# Builds targets. The build's server may start here and stay: it gets none of the pipes whose end bats waits for.
build() {
  (
    for fd in /proc/"$BASHPID"/fd/*; do
      fd=${fd##*/}
      [ "$fd" -le 2 ] || [ "$fd" = 255 ] || eval "exec $fd>&-"
    done
    cd "$CLONE" && . tools/bazel.bash && bazel_command build --noshow_progress "$@"
  ) >"$NCCL_TUNE_CLUSTER_DIR/build.log" 2>&1 </dev/null || { cat "$NCCL_TUNE_CLUSTER_DIR/build.log"; return 1; }
}

# Builds plugins of tests/spank for a cluster's Slurm and puts them into its bin folder: NAME.so.
add_test_plugins() {
  local cluster=$1 release name
  shift
  release=$(slurm_release "$cluster")
  build "${@/%/_$release.so}"
  for name in "${@##*:}"; do
    cp -L "$CLONE/bazel-bin/tests/spank/${name}_$release.so" "$NCCL_TUNE_CLUSTER_DIR/$cluster/bin/$name.so"
  done
}
