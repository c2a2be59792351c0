#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The site's policy on a real Slurm, read at each step; and MPI's variables beside what users and sites have set.

bats_require_minimum_version 1.5.0
load cluster

INSIDE=/run/cluster
# shellcheck disable=SC2034  # of run_mpi: the MPI program here has nothing of ours to crash
MPI_CRASH="Segmentation fault"

setup_file() {
  make_state
  (cd "$CLONE" && . tools/bazel.bash && bazel_command build --noshow_progress //tests/mpi:sum) \
    >"$NCCL_TUNE_CLUSTER_DIR/build.log" 2>&1 3>&- || { cat "$NCCL_TUNE_CLUSTER_DIR/build.log"; return 1; }
  up policy
  cp -L "$CLONE/bazel-bin/tests/mpi/sum" "$NCCL_TUNE_CLUSTER_DIR/policy/bin/"
  # The drop-in with a policy of our own; the daemons read it for each step.
  head_run sed -i "s|\(^optional .*\)|\1 default=policy policy=$INSIDE/conf/nccl-tune.toml|" $INSIDE/conf/plugstack.conf.d/nccl_tune.conf
}

teardown_file() {
  remove_state
}

setup() {
  rm -f "$NCCL_TUNE_CLUSTER_DIR/policy/conf/nccl-tune.toml"
}

head_run() { "$CLUSTER" run --name policy "$@" 3>&-; }
site() {
  cat >"$NCCL_TUNE_CLUSTER_DIR/policy/conf/nccl-tune.toml"
  chmod 644 "$NCCL_TUNE_CLUSTER_DIR/policy/conf/nccl-tune.toml"
}

# What explain says of the nodes, in one line.
# shellcheck disable=SC2154  # run sets it
flat() { sed -n 's/^nccl-tune:   //p' <<<"$stderr" | tr -s '\n ' ' '; }

SHOW='echo "$(hostname) ${NCCL_IB_HCA-none} ${NCCL_IB_GID_INDEX-none} ${NCCL_SOCKET_IFNAME-none} ${NCCL_IB_TC-none}"'
one_each() { head_run srun -N3 --ntasks-per-node=1 "$@" sh -c "$SHOW" | sort; }
expect_all() { printf 'server%d %s\n' 1 "$1" 2 "$1" 3 "$1"; }

@test "no policy: detection decides, and a job that says nothing gets nothing" {
  [ "$(one_each --nccl-tune)" = "$(expect_all '=mlx5_1:1 3 =ens11f1 none')" ]
  [ "$(one_each)" = "$(expect_all 'none none none none')" ]
}

@test "the policy fixes, leaves out and names" {
  site <<<'bootstrap = "eno1"
gid_index = "auto"
[traffic_class]
tc = 106'
  [ "$(one_each --nccl-tune)" = "$(expect_all '=mlx5_1:1 none =eno1 106')" ]
  [ "$(one_each --nccl-tune --export=ALL,NCCL_IB_TC=0)" = "$(expect_all '=mlx5_1:1 none =eno1 0')" ]
  site <<<'[devices]
exclude = ["mlx5_1"]'
  run -0 --separate-stderr head_run srun -N1 -w server2 --nccl-tune=explain true
  [[ $(flat) == *"NCCL_IB_DISABLE 1 NCCL would take an RDMA port that the site leaves out"* ]]
  [[ $(flat) == *"mlx5_1:1: left out by the site policy, line 2: devices.exclude[1]"* ]]
}

@test "a block for some nodes and partitions" {
  site <<<'[[when]]
nodes = "server[1-2]"
[when.set]
NCCL_IB_TC = 98'
  run -0 one_each --nccl-tune
  [ "$output" = "server1 =mlx5_1:1 3 =ens11f1 98
server2 =mlx5_1:1 3 =ens11f1 98
server3 =mlx5_1:1 3 =ens11f1 none" ]
}

@test "a batch job's steps: each node's own block" {
  local out=$INSIDE/shared/blocks.out script
  for k in 1 2 3; do printf '[[when]]\nnodes = "server%d"\n[when.set]\nNCCL_IB_TC = %d\n' "$k" "$k"; done | site
  script=$(printf '#!/bin/sh\n#SBATCH -N3 --ntasks-per-node=1 -o %s\nsrun --ntasks-per-node=1 --nccl-tune sh -c '\''%s'\'' | sort\n' \
    "$out" "$SHOW")
  head_run sh -c "mkdir -p $INSIDE/shared && rm -f $out && cat >/tmp/blocks.sh && sbatch -W -Q /tmp/blocks.sh" <<<"$script"
  run -0 head_run cat "$out"
  [ "$output" = "$(for k in 1 2 3; do echo "server$k =mlx5_1:1 3 =ens11f1 $k"; done)" ]
}

@test "a block for a feature that slurm.conf gives the nodes" {
  head_run sed -i 's/^NodeName=server[^ ]*/& Feature=fast,roce/' $INSIDE/conf/slurm.conf
  head_run scontrol reconfigure
  site <<<'[[when]]
feature = ["slow", "roce"]
[when.set]
NCCL_IB_TC = 98
[[when]]
feature = "ib"
mode = "off"'
  [ "$(one_each --nccl-tune)" = "$(expect_all '=mlx5_1:1 3 =ens11f1 98')" ]
  # The job's own SLURM_CONF is not asked: it would let a job choose its features.
  run -0 head_run srun -N1 -w server1 --nccl-tune --export=ALL,SLURM_CONF=/etc/hostname sh -c "$SHOW"
  [ "$output" = "server1 =mlx5_1:1 3 =ens11f1 98" ]
}

@test "items that are misspelt, doubled or cut at a comma" {
  run -0 --separate-stderr one_each --nccl-tune=set=NCCL_IB_TIMOUT:22
  [ "$stderr" = "nccl-tune: set=NCCL_IB_TIMOUT: not a variable that we know. Did you mean NCCL_IB_TIMEOUT?" ]
  run -0 --separate-stderr head_run env NCCL_TUNE=unset=NCCL_IB_HAC srun -N1 true
  [ "$stderr" = "nccl-tune: unset=NCCL_IB_HAC: not a variable that we know. Did you mean NCCL_IB_HCA?" ]
  run ! head_run srun -N1 --nccl-tune=profile=a,profile=b true
  [[ $output == *"a second profile: got \"profile=b\""* ]]
  run ! head_run srun -N1 --nccl-tune=set=NCCL_IB_HCA:=mlx5_0:1,mlx5_1:1 true
  [[ $output == *"A comma in a value is written twice: set=NCCL_IB_HCA:=mlx5_0:1,,mlx5_1:1"* ]]
  run ! head_run srun -N1 --nccl-tune=EXPLAIN true
  [[ $output == *"Did you mean explain?"* ]]
}

@test "explain and check-policy on a node read the policy that the drop-in names" {
  site <<<'gid_index = "auto"'
  run -0 head_run env -u SLURM_CONF SLURM_CONF=$INSIDE/conf/slurm.conf nccl-tune check-policy
  [[ $output == *"$INSIDE/conf/nccl-tune.toml: no fault"*"gid_index "*"auto"* ]]
  run -0 "$CLUSTER" run --name policy --node server1 nccl-tune explain
  [[ $(tr -s '\n ' ' ' <<<"$output") == *"note $INSIDE/conf/nccl-tune.toml: the site's policy, named in $INSIDE/conf/plugstack.conf.d/nccl_tune.conf:"* ]]
  [[ $(tr -s '\n ' ' ' <<<"$output") == *"left unset "*"NCCL_IB_GID_INDEX, "* ]]
}

@test "a profile is the user's choice of the site's values" {
  site <<<'[profile.patient]
NCCL_IB_TC = 7'
  [ "$(one_each --nccl-tune=profile=patient)" = "$(expect_all '=mlx5_1:1 3 =ens11f1 7')" ]
  [ "$(one_each --nccl-tune=profile=none)" = "$(expect_all '=mlx5_1:1 3 =ens11f1 none')" ]
  run -0 --separate-stderr head_run srun -N1 -w server1 --nccl-tune=explain,profile=none true
  [[ $(flat) == *"note"*"none"*"patient"* ]]
}

@test "the site turns everything off and on again without a restart" {
  site <<<'mode = "off"'
  [ "$(one_each --nccl-tune)" = "$(expect_all 'none none none none')" ]
  run -0 --separate-stderr one_each --nccl-tune
  [ "$stderr" = "" ]
  # A job that asks for more hears once who has the last word.
  local item
  for item in explain strict set=NCCL_IB_TC:7 unset=NCCL_IB_TC profile=patient; do
    run -0 --separate-stderr one_each "--nccl-tune=$item"
    [ "$output" = "$(expect_all 'none none none none')" ]
    [ "$stderr" = "nccl-tune: server1: the site's policy turns nccl-tune off here, $INSIDE/conf/nccl-tune.toml:1; nothing is set" ]
  done
  site <<<'mode = "auto"'
  [ "$(one_each)" = "$(expect_all '=mlx5_1:1 3 =ens11f1 none')" ]
  [ "$(one_each --nccl-tune=off)" = "$(expect_all 'none none none none')" ]
  [ "$(one_each --export=ALL,NCCL_TUNE=off)" = "$(expect_all 'none none none none')" ]
}

@test "what the policy turns off is off in a job that began tuned, on every node" {
  site <<<'mode = "auto"
[[when]]
nodes = "server2"
mode = "off"'
  head_run sh -c 'mkdir -p /run/cluster/shared; cat >/tmp/job.sh' <<<"#!/bin/sh
#SBATCH -N3 --ntasks-per-node=1 -o /run/cluster/shared/job.out
srun sh -c '$SHOW'
while [ ! -e /run/cluster/shared/go ]; do sleep 0.05; done
srun sh -c '$SHOW'"
  head_run sbatch -Q /tmp/job.sh
  eventually three_lines
  [ "$(head_run sort /run/cluster/shared/job.out)" = 'server1 =mlx5_1:1 3 =ens11f1 none
server2 none none none none
server3 =mlx5_1:1 3 =ens11f1 none' ]
  site <<<'mode = "off"'
  head_run touch /run/cluster/shared/go
  eventually no_job
  [ "$(head_run sed 1,3d /run/cluster/shared/job.out | sort)" = "$(expect_all 'none none none none')" ]
}
three_lines() { [ "$(head_run sh -c 'grep -c . /run/cluster/shared/job.out')" = 3 ]; }
no_job() { [ -z "$(head_run squeue -h)" ]; }

@test "a broken policy breaks no job: detection decides, and explain says so" {
  for text in 'gid_index = "sometimes"' 'mode = off' '[devices' $'\x01\x02' 'unknown = 1'; do
    site <<<"$text"
    [ "$(one_each --nccl-tune)" = "$(expect_all '=mlx5_1:1 3 =ens11f1 none')" ]
    [ "$(one_each)" = "$(expect_all 'none none none none')" ]
    run -0 --separate-stderr head_run srun -N1 -w server1 --nccl-tune=explain true
    [[ $(flat) == "note /run/cluster/conf/nccl-tune.toml:1: site policy ignored, detection alone decides:"* ]]
  done
}

@test "a profile of a broken policy: what is refused is the policy" {
  site <<<'bootstrp = "x"
[profile.p]
NCCL_IB_TIMEOUT = "23"'
  run -0 --separate-stderr head_run srun -N1 --nccl-tune=profile=p true
  [[ $stderr == *"--nccl-tune=profile=p: "*"bootstrp"* ]]
  [[ $stderr != *"no such profile"* ]]
}

@test "a policy that others can write, or that is no file, is not taken" {
  local policy=$NCCL_TUNE_CLUSTER_DIR/policy/conf/nccl-tune.toml
  site <<<'mode = "off"'
  chmod 666 "$policy"
  [ "$(one_each --nccl-tune)" = "$(expect_all '=mlx5_1:1 3 =ens11f1 none')" ]
  run -0 --separate-stderr head_run srun -N1 -w server1 --nccl-tune=explain true
  [[ $(flat) == "note $INSIDE/conf/nccl-tune.toml: site policy ignored, "*"others than its owner may write it. chmod go-w it."* ]]
  rm "$policy" && mkfifo -m 644 "$policy"
  [ "$(one_each --nccl-tune)" = "$(expect_all '=mlx5_1:1 3 =ens11f1 none')" ]
  run -0 --separate-stderr head_run srun -N1 -w server1 --nccl-tune=explain true
  [[ $(flat) == *"site policy ignored, "*"not a regular file"* ]]
}

@test "a node is not drained by any policy" {
  [ "$(head_run sinfo -h -N -o %t | sort -u)" = idle ]
}

@test "MPI's variables are set with the mode item mpi only" {
  local mpi='echo "${OMPI_MCA_btl_tcp_if_include-none} ${UCX_NET_DEVICES-none}"'
  [ "$(head_run srun -N1 -w server1 --nccl-tune sh -c "$mpi")" = "none none" ]
  [ "$(head_run srun -N1 -w server1 --nccl-tune=mpi sh -c "$mpi")" = "ens11f1 mlx5_1:1,ens11f1" ]
}

# An include beside an exclude ends an MPI job: whatever is set, ours changes nothing of the outcome.
@test "an MPI program runs the same with each opposite set, with and without us" {
  needs_pmix
  local opposite mode
  for opposite in none=0 OMPI_MCA_btl_tcp_if_exclude=lo,eno1 OMPI_MCA_btl_tcp_if_include=eno1 \
    OMPI_MCA_oob_tcp_if_exclude=lo,eno1 OMPI_MCA_oob_tcp_if_include=eno1 UCX_NET_DEVICES=eno1 \
    GLOO_SOCKET_IFNAME=eno1 NVSHMEM_HCA_PE_MAPPING=mlx5_1:1:1; do
    for mode in off auto mpi; do
      run_mpi head_run env "$opposite" srun -K -N3 --ntasks-per-node=1 --mpi=pmix --nccl-tune=$mode sum
      [[ $status == 0 && $output == *"3 ranks, sum 3"* ]] || { echo "$opposite with $mode: $output"; false; }
    done
  done
}

@test "an exclude in a parameter file of MPI counts too" {
  local home=$INSIDE/shared/home
  head_run sh -c "mkdir -p $home/.openmpi && echo 'btl_tcp_if_exclude = lo,eno1' >$home/.openmpi/mca-params.conf"
  run -0 head_run env HOME=$home srun -N1 -w server1 --nccl-tune=mpi sh -c 'echo "${OMPI_MCA_btl_tcp_if_include-none}"'
  [ "$output" = none ]
  run -0 --separate-stderr head_run env HOME=$home srun -N1 -w server1 --nccl-tune=mpi,explain true
  [[ $(flat) == *"mca-params.conf:1 sets OMPI_MCA_btl_tcp_if_exclude, which settles the same"* ]]
  needs_pmix
  for mode in off mpi; do
    run_mpi head_run env HOME=$home srun -K -N3 --ntasks-per-node=1 --mpi=pmix --nccl-tune=$mode sum
    [[ $status == 0 && $output == *"3 ranks, sum 3"* ]]
  done
}

@test "values in NCCL's own files are kept, and explain names the line" {
  local home=$INSIDE/shared/conf
  head_run sh -c "mkdir -p $home && printf '# ours\nNCCL_IB_HCA=mlx5_0\n' >$home/.nccl.conf"
  run -0 --separate-stderr head_run env HOME=$home srun -N1 -w server1 --nccl-tune=explain sh -c "$SHOW"
  [ "$output" = "server1 none none =ens11f1 none" ]
  [[ $(flat) == *"NCCL_IB_HCA mlx5_0 ($home/.nccl.conf:2, kept)"* ]]
  [[ $(flat) == *"mlx5_0:1: its port is not active, so NCCL skips it"* ]]
  run -0 --separate-stderr head_run env HOME=$home srun -N1 -w server1 --nccl-tune=unset=NCCL_IB_HCA sh -c "$SHOW"
  [[ $stderr == *"--nccl-tune=unset=NCCL_IB_HCA: $home/.nccl.conf:2 sets it, and it stays. Take it out of there"* ]]
  [[ $stderr == *"NCCL_IB_HCA=mlx5_0 ($home/.nccl.conf:2): "* ]]
}
