// SPDX-License-Identifier: Apache-2.0
#include "launcher/rank_catalog.h"

#include <array>

namespace nccl_tune::launcher {
namespace {

using Value = std::optional<std::string>;

constexpr std::string_view kTorchRendezvous =
    "https://github.com/pytorch/pytorch/blob/v2.5.1/torch/distributed/rendezvous.py";
constexpr std::string_view kTorchrun = "https://docs.pytorch.org/docs/stable/elastic/run.html#environment-variables";
constexpr std::string_view kTorchElastic =
    "https://github.com/pytorch/pytorch/blob/v2.5.1/torch/distributed/distributed_c10d.py (is_torchelastic_launched)";
constexpr std::string_view kOpenMpi = "https://www.open-mpi.org/faq/?category=running#mpi-environmental-variables";
constexpr std::string_view kJaxInitialize = "https://github.com/jax-ml/jax/blob/main/jax/_src/distributed.py";
constexpr std::string_view kJaxSlurm = "https://github.com/jax-ml/jax/blob/main/jax/_src/clusters/slurm_cluster.py";
constexpr std::string_view kLightning =
    "https://github.com/Lightning-AI/pytorch-lightning/blob/master/src/lightning/fabric/plugins/environments/"
    "torchelastic.py";
constexpr std::string_view kRankFrom =
    "PMIx's rank, which is SLURM_PROCID; that alone where a job has no PMIx. With --procs-per-node N: node x N + local "
    "rank";
constexpr std::string_view kSizeFrom =
    "PMIx's job size, which is SLURM_STEP_NUM_TASKS; that alone where a job has no PMIx. With --procs-per-node: ranks";
constexpr std::string_view kLocalRankFrom = "SLURM_LOCALID (PMIx knows it of the own node only)";
constexpr std::string_view kLocalSizeFrom = "this node's number in SLURM_STEP_TASKS_PER_NODE";
constexpr std::string_view kNodeFrom = "SLURM_NODEID (PMIx's is wrong before Slurm 25.05)";

std::string Number(std::uint32_t number) { return std::to_string(number); }

// As a part of HOST:PORT.
std::string Bracketed(const std::string& address) {
  const bool is_bare_v6 = address.find(':') != std::string::npos && !address.starts_with('[');
  return is_bare_v6 ? "[" + address + "]" : address;
}

Value Rank(const RankFacts& facts, const Master&) { return Number(facts.rank); }
Value Size(const RankFacts& facts, const Master&) { return Number(facts.size); }
Value LocalRank(const RankFacts& facts, const Master&) { return Number(facts.local_rank); }
Value LocalSize(const RankFacts& facts, const Master&) { return Number(facts.local_size); }
Value NodeRank(const RankFacts& facts, const Master&) { return Number(facts.node_rank); }
Value NodeCount(const RankFacts& facts, const Master&) { return Number(facts.node_count); }
Value Restarts(const RankFacts& facts, const Master&) { return Number(facts.restart_count); }
Value RunId(const RankFacts& facts, const Master&) { return facts.job + "." + facts.step; }
Value Address(const RankFacts&, const Master& master) { return master.address; }
Value Port(const RankFacts&, const Master& master) { return master.port; }
Value Coordinator(const RankFacts&, const Master& master) { return Bracketed(master.address) + ":" + master.port; }
Value Default(const RankFacts&, const Master&) { return "default"; }
Value Zero(const RankFacts&, const Master&) { return "0"; }
Value False(const RankFacts&, const Master&) { return "False"; }
Value Device(const RankFacts& facts, const Master&) {
  return facts.device ? Value(Number(*facts.device)) : std::nullopt;
}
Value None(const RankFacts&, const Master&) { return std::nullopt; }

constexpr std::array kVariables = {
    RankVariable{"RANK", OtherLauncher::kTorchrun, "number of this rank, from 0", kRankFrom,
                 "PyTorch (env://), DeepSpeed, Accelerate, Megatron, Lightning", kTorchRendezvous, Rank},
    RankVariable{"WORLD_SIZE", OtherLauncher::kTorchrun, "number of ranks", kSizeFrom,
                 "PyTorch (env://), DeepSpeed, Accelerate, Megatron, Lightning", kTorchRendezvous, Size},
    RankVariable{"LOCAL_RANK", OtherLauncher::kTorchrun, "number of this rank on its node, from 0", kLocalRankFrom,
                 "DeepSpeed, Accelerate, Megatron, Lightning, most PyTorch programs: the GPU to take", kTorchrun,
                 LocalRank},
    RankVariable{"LOCAL_WORLD_SIZE", OtherLauncher::kTorchrun, "number of ranks on this node", kLocalSizeFrom,
                 "PyTorch programs, Accelerate", kTorchrun, LocalSize},
    RankVariable{"NODE_RANK", OtherLauncher::kTorchrun, "number of this node in the step, from 0", kNodeFrom,
                 "Lightning (its own launcher), programs written for torch.distributed.launch",
                 "https://github.com/Lightning-AI/pytorch-lightning/blob/master/src/lightning/fabric/plugins/"
                 "environments/lightning.py",
                 NodeRank},
    RankVariable{"GROUP_RANK", OtherLauncher::kTorchrun, "the same, in torchrun's words", kNodeFrom,
                 "Lightning, elastic-aware programs", kLightning, NodeRank},
    RankVariable{"GROUP_WORLD_SIZE", OtherLauncher::kTorchrun, "number of nodes of the step",
                 "nodes that SLURM_STEP_TASKS_PER_NODE names", "elastic-aware programs", kTorchrun, NodeCount},
    RankVariable{"ROLE_RANK", OtherLauncher::kTorchrun, "RANK: all ranks have one role", kRankFrom,
                 "elastic-aware programs", kTorchrun, Rank},
    RankVariable{"ROLE_WORLD_SIZE", OtherLauncher::kTorchrun, "WORLD_SIZE: all ranks have one role", kSizeFrom,
                 "elastic-aware programs", kTorchrun, Size},
    RankVariable{"ROLE_NAME", OtherLauncher::kTorchrun, "the role of all ranks", "always default, as torchrun's",
                 "elastic-aware programs", kTorchrun, Default},
    RankVariable{"MASTER_ADDR", OtherLauncher::kTorchrun, "where the others reach rank 0",
                 "rank 0's address on its bootstrap interface: that of its plan, else of an exact NCCL_SOCKET_IFNAME, "
                 "else its node's name (SLURMD_NODENAME); all ranks get it over PMIx",
                 "PyTorch (env://) and all built on it; plain NCCL programs that carry the unique id by TCP",
                 kTorchRendezvous, Address},
    RankVariable{"MASTER_PORT", OtherLauncher::kTorchrun, "TCP port on rank 0's node, free when PROGRAM starts",
                 "a port of NCCL_TUNE_PORT_RANGE (20000-28000) that rank 0 could claim and bind; where it begins to "
                 "look depends on the "
                 "step",
                 "PyTorch (env://) and all built on it; plain NCCL programs that carry the unique id by TCP",
                 kTorchRendezvous, Port},
    RankVariable{"TORCHELASTIC_RUN_ID", OtherLauncher::kTorchrun,
                 "JOB.STEP; that it is set makes is_torchelastic_launched() true", "SLURM_JOB_ID and SLURM_STEP_ID",
                 "PyTorch, Lightning (takes this environment before Slurm's; its own requeueing is then off)",
                 kTorchElastic, RunId},
    RankVariable{"TORCHELASTIC_RESTART_COUNT", OtherLauncher::kTorchrun, "how often the job was requeued",
                 "SLURM_RESTART_COUNT, else 0", "PyTorch (only with an agent's store), elastic-aware programs",
                 kTorchRendezvous, Restarts},
    RankVariable{"TORCHELASTIC_MAX_RESTARTS", OtherLauncher::kTorchrun, "restarts by the launcher itself",
                 "always 0: Slurm requeues, nccl-launch does not restart ranks", "elastic-aware programs", kTorchrun,
                 Zero},
    RankVariable{"TORCHELASTIC_USE_AGENT_STORE", OtherLauncher::kTorchrun,
                 "whether somebody already listens on MASTER_PORT; with True rank 0 would wait for ever",
                 "always False: there is no agent, rank 0 listens itself", "PyTorch (env://, tcp://)", kTorchRendezvous,
                 False},
    RankVariable{"TORCHELASTIC_ERROR_FILE", OtherLauncher::kTorchrun,
                 "where a function under `record` leaves its traceback; taken away where an outer torchrun left it",
                 "a file of the rank in the folder of NCCL_TUNE_REPORT_DIR, where that is set and PROGRAM has a parent",
                 "PyTorch (torch.distributed.elastic.multiprocessing.errors.record)",
                 "https://docs.pytorch.org/docs/stable/elastic/errors.html", None},
    RankVariable{"JAX_COORDINATOR_ADDRESS", OtherLauncher::kNone, "where JAX's process 0 listens",
                 "MASTER_ADDR:MASTER_PORT, also where the user has set these. A program that opens PyTorch's store too "
                 "gives one of "
                 "the two another port",
                 "JAX (jax.distributed.initialize)", kJaxInitialize, Coordinator},
    RankVariable{"JAX_NUM_PROCESSES", OtherLauncher::kNone, "number of ranks", kSizeFrom,
                 "JAX programs, not JAX itself: that takes SLURM_NTASKS unless num_processes is passed", kJaxSlurm,
                 Size},
    RankVariable{"JAX_PROCESS_ID", OtherLauncher::kNone, "number of this rank, from 0", kRankFrom,
                 "JAX programs, not JAX itself: that takes SLURM_PROCID unless process_id is passed", kJaxSlurm, Rank},
    RankVariable{"JAX_LOCAL_DEVICE_IDS", OtherLauncher::kNone, "which of the visible GPUs JAX takes",
                 "only where nccl-launch has placed the rank: its GPU among those it sees. Else unset, and JAX takes "
                 "number SLURM_LOCALID of them",
                 "JAX (jax.distributed.initialize)", kJaxInitialize, Device},
    RankVariable{
        "OMPI_COMM_WORLD_RANK", OtherLauncher::kMpirun, "number of this rank, from 0", kRankFrom,
        "programs started by mpirun until now: Accelerate, Horovod's, TensorFlow's and TensorRT-LLM's scripts; "
        "not Open MPI itself",
        kOpenMpi, Rank},
    RankVariable{"OMPI_COMM_WORLD_SIZE", OtherLauncher::kMpirun, "number of ranks", kSizeFrom, "the same programs",
                 kOpenMpi, Size},
    RankVariable{"OMPI_COMM_WORLD_LOCAL_RANK", OtherLauncher::kMpirun, "number of this rank on its node, from 0",
                 kLocalRankFrom, "the same programs", kOpenMpi, LocalRank},
    RankVariable{"OMPI_COMM_WORLD_LOCAL_SIZE", OtherLauncher::kMpirun, "number of ranks on this node", kLocalSizeFrom,
                 "the same programs", kOpenMpi, LocalSize},
    RankVariable{"OMPI_COMM_WORLD_NODE_RANK", OtherLauncher::kMpirun,
                 "number of this rank on its node, as Open MPI has it (not the number of the node)", kLocalRankFrom,
                 "the same programs", kOpenMpi, LocalRank},
};

constexpr std::array kLeftAlone = {
    LeftAlone{"PMI_RANK, PMI_SIZE, PMI_FD, PMI_PORT",
              "an MPICH built for PMI-1 asks the process manager behind PMI_FD or PMI_PORT and is a single rank "
              "without one, whatever PMI_RANK says; Accelerate and others take the two as a sign of mpiexec. Such an "
              "MPICH is started by srun --mpi=pmi2 (Slurm sets them) or built for PMIx, which reads PMIX_*",
              "https://github.com/pmodels/mpich/blob/main/src/pmi/src/pmi_v1.c"},
    LeftAlone{"PMIX_*", "Slurm's, of this step: Open MPI 4 and 5 and an MPICH for PMIx find their ranks by them",
              "https://slurm.schedmd.com/mpi_guide.html"},
    LeftAlone{"SLURM_PROCID, SLURM_STEP_NUM_TASKS, SLURM_STEP_NODELIST, SLURM_STEP_TASKS_PER_NODE",
              "Slurm's, and they stay: TensorFlow's SlurmClusterResolver reads these four (and takes its own ports "
              "from 8888 on). With --procs-per-node they count tasks, not ranks: use TF_CONFIG there",
              "https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/distribute/cluster_resolver/"
              "slurm_cluster_resolver.py"},
    LeftAlone{"TF_CONFIG",
              "names a port of every rank; nccl-launch claims one, of rank 0. A program with "
              "MultiWorkerMirroredStrategy uses SlurmClusterResolver",
              "https://www.tensorflow.org/guide/distributed_training#setting_up_the_tf_config_environment_variable"},
    LeftAlone{"SLURM_JOB_ID, SLURM_STEP_NODELIST, SLURM_NTASKS, SLURM_PROCID, SLURM_LOCALID",
              "Slurm's, and they stay: JAX reads them for what is not passed to jax.distributed.initialize. With "
              "--procs-per-node pass num_processes=int(os.environ[\"JAX_NUM_PROCESSES\"]) and "
              "process_id=int(os.environ[\"JAX_PROCESS_ID\"])",
              "https://github.com/jax-ml/jax/blob/main/jax/_src/clusters/slurm_cluster.py"},
    LeftAlone{"NCCL_COMM_ID",
              "makes NCCL itself listen on a port, which must then not be MASTER_PORT; programs carry the unique id "
              "their own way",
              "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-comm-id"},
};

constexpr std::array kReaders = {
    Reader{"PyTorch (DDP, FSDP), init_process_group(\"nccl\")",
           "RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT, TORCHELASTIC_USE_AGENT_STORE; the program itself LOCAL_RANK"},
    Reader{"torchrun-aware PyTorch", "the same, GROUP_*, ROLE_*, LOCAL_WORLD_SIZE and TORCHELASTIC_*"},
    Reader{"DeepSpeed",
           "RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT; it asks mpi4py only if one is missing"},
    Reader{"Accelerate", "LOCAL_RANK, RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT; on CPUs OMPI_COMM_WORLD_* as well"},
    Reader{"Megatron", "RANK, WORLD_SIZE, LOCAL_RANK, and by PyTorch MASTER_ADDR, MASTER_PORT"},
    Reader{"Lightning", "TORCHELASTIC_RUN_ID, RANK, WORLD_SIZE, LOCAL_RANK, GROUP_RANK, MASTER_ADDR, MASTER_PORT"},
    Reader{"JAX", "JAX_COORDINATOR_ADDRESS, JAX_LOCAL_DEVICE_IDS, and SLURM_NTASKS, SLURM_PROCID, SLURM_LOCALID"},
    Reader{"TensorFlow", "SLURM_* by SlurmClusterResolver; Horovod's programs OMPI_COMM_WORLD_* or PMIX_* through MPI"},
    Reader{"plain NCCL", "what its author chose: RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT will do"},
    Reader{"Open MPI 4 and 5, mpi4py over them", "PMIX_*; OMPI_COMM_WORLD_* is set beside and does not disturb them"},
    Reader{"MPICH and its kin", "PMIX_* where built for PMIx; else use srun --mpi=pmi2 without nccl-launch"},
};

}  // namespace

std::span<const RankVariable> RankVariables() { return kVariables; }
std::span<const LeftAlone> RankVariablesLeftAlone() { return kLeftAlone; }
std::span<const Reader> RankReaders() { return kReaders; }

}  // namespace nccl_tune::launcher
