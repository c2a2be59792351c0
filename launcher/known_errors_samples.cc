// SPDX-License-Identifier: Apache-2.0
#include "launcher/known_errors_samples.h"

namespace nccl_tune::launcher {
namespace {

// What NCCL prints before its messages.
const std::string kWarn = "node1:4711:4801 [3] ";
const std::string kInfo = kWarn + "NCCL INFO ";

const std::vector<Sample> kSamples = {
    {"ib-no-answer", kWarn + "transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer 10.0.0.12<38560> "
                             "with error 12, opcode 0, len 0, vendor err 129 (Send)"},
    {"ib-no-answer",
     kWarn + "ib_plugin.c:1615 NCCL WARN NET/IB : Got completion from peer 10.0.0.12<36315> with status=12 opcode=1 "
             "len=0 vendor err 129 (Send) localGid ::ffff:10.0.0.11 remoteGids::ffff:10.0.0.12"},
    {"ib-no-answer",
     "[2026-06-11 11:44:19] node1:4711:4801 [3] transport/net_ib/p2p.cc:688 NCCL WARN NET/IB: Got completion from "
     "peer 10.0.0.12<36315> with status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_SEND(0) vendor_err=129  localGid "
     "fe80::1 hca mlx5_4"},
    {"ib-retries-exceeded", kWarn + "transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer "
                                    "10.0.0.12<38560> with status=12 opcode=0 len=0 vendor err 0 (Recv)"},
    {"ib-receiver-not-ready", kWarn + "transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer "
                                      "10.0.0.12<38560> with status=13 opcode=0 len=0 vendor err 135 (Send)"},
    {"ib-local-protection",
     kWarn + "transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer 10.0.0.12<38560> with error 4, "
             "opcode 0, len 0, vendor err 81 (Send) localGid ::ffff:10.0.0.11"},
    {"ib-remote-access", kWarn + "transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer "
                                 "10.0.0.12<38560> with status=10 opcode=0 len=0 vendor err 136 (Send)"},
    {"ib-flushed", kWarn + "ib_plugin.c:1615 NCCL WARN NET/IB : Got completion from peer 10.0.0.12<44206> with "
                           "status=5 opcode=32656 len=32659 vendor err 249 (Recv)"},
    {"ib-connect-timeout",
     kWarn + "misc/ibvwrap.cc:187 NCCL WARN Call to ibv_modify_qp failed with error Connection timed out errno 110"},
    {"ib-connect-timeout", kWarn + "misc/ibvwrap.cc:376 NCCL WARN Call to ibv_modify_qp failed with 110 Connection "
                                   "timed out, on dev mlx5_4:1, curr state INIT, next state RTR, local GID index 3"},
    {"ib-network-unreachable",
     kWarn + "misc/ibvwrap.cc:187 NCCL WARN Call to ibv_modify_qp failed with error Network is unreachable"},
    {"ib-no-such-device",
     kWarn + "misc/ibvwrap.cc:187 NCCL WARN Call to ibv_modify_qp failed with error No such device"},
    {"ib-modify-invalid",
     kWarn + "misc/ibvwrap.cc:187 NCCL WARN Call to ibv_modify_qp failed with error Invalid argument errno 22"},
    {"ib-mixed-links",
     kWarn + "transport/net_ib/connect.cc:400 NCCL WARN NET/IB : Attempted to connect incompatible devices: "
             "[0]mlx5_0:1/IB and [1]mlx5_4:1/RoCE. Try selecting NICs of only one link type"},
    {"roce-gid-type-unreadable",
     kWarn + "transport/net_ib.cc:260 NCCL WARN NET/IB: read failed in ncclIbRoceGetVersionNum: Invalid argument"},
    {"ib-port-went-down", kWarn + "transport/net_ib.cc:94 NCCL WARN NET/IB : mlx5_4:1 Got async event : port error"},
    {"ib-port-went-down",
     kWarn + "transport/net_ib/init.cc:60 NCCL WARN NET/IB : mlx5_4:1 Got non-fatal async event: port error(10)"},
    {"ib-device-fatal",
     kWarn + "transport/net_ib/init.cc:45 NCCL WARN NET/IB : mlx5_4:1 async fatal event: local catastrophic error"},
    {"gid-table-changed", kWarn + "transport/net_ib/init.cc:70 NCCL WARN NET/IB : mlx5_4:1 GID table changed"},
    {"memlock-cq", kWarn + "misc/ibvwrap.cc:268 NCCL WARN Call to ibv_create_cq failed"},
    {"memlock-cq",
     "[1668693503.473099] [node1:1188443:0]          ib_log.c:246  UCX  ERROR mlx5_0: ibv_create_cq() failed: Cannot "
     "allocate memory. Please set max locked memory (ulimit -l) to 'unlimited' (current: 64 kbytes)"},
    {"memlock-mr",
     kWarn + "misc/ibvwrap.cc:278 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory"},
    {"dmabuf-registration",
     kWarn + "misc/ibvwrap.cc:220 NCCL WARN Call to ibv_reg_dmabuf_mr failed with error Invalid argument"},
    {"peermem-registration",
     kWarn + "misc/ibvwrap.cc:213 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Bad address"},
    {"ib-cannot-open", kWarn + "transport/net_ib.cc:149 NCCL WARN NET/IB : Unable to open device mlx5_59"},
    {"bootstrap-loopback",
     kWarn +
         "misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 127.0.0.1<41033> failed : Connection refused"},
    {"bootstrap-loopback", kWarn + "misc/socket.cc:484 NCCL WARN socketPollConnect: connect to localhost<41033> "
                                   "returned Connection refused, exceeded error retry count after 35 attempts"},
    {"bootstrap-link-local", kWarn + "misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to "
                                     "fe80::a288:c2ff:fe11:2233%ens1<41033> failed : Invalid argument"},
    {"connect-refused", kWarn + "os/linux.cc:288 NCCL WARN ncclOsSocketPollConnect: connect to 10.0.0.11<41033> "
                                "returned Connection refused, exceeded error retry count after 35 attempts"},
    {"connect-no-route",
     kWarn + "misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 172.17.0.1<41033> failed : No route to host"},
    {"connect-timed-out",
     kWarn +
         "misc/socket.cc:552 NCCL WARN socketPollConnect to 10.0.0.11<41033> failed with error Connection timed out"},
    {"no-socket-interface", kWarn + "bootstrap.cc:45 NCCL WARN Bootstrap : no socket interface found"},
    {"no-socket-interface",
     kWarn + "bootstrap.cc:577 NCCL WARN no device found matching exactly eth9, verify NCCL_OOB_NET_IFNAME"},
    {"comm-id-other-subnet",
     kWarn + "bootstrap.cc:101 NCCL WARN Net : No interface found in the same subnet as remote address 10.9.0.1<4000>"},
    {"comm-id-format", kWarn + "bootstrap.cc:95 NCCL WARN Invalid NCCL_COMM_ID, please use format: <ipv4>:<port> or "
                               "[<ipv6>]:<port> or <hostname>:<port>"},
    {"rank-twice", kWarn + "bootstrap.cc:348 NCCL WARN Bootstrap Root : rank 0 of 8 ranks has already checked in"},
    {"world-size-differs", kWarn + "bootstrap.cc:335 NCCL WARN Bootstrap Root : mismatch in info from procs, nranks "
                                   "8 vs 16, nroots 1 vs 1, iroot 0 vs 0, offset 0 vs 0"},
    {"nccl-versions-differ",
     kWarn + "init.cc:1043 NCCL WARN Mismatched NCCL version detected : rank 0 version 22505 rank 3 version 22703"},
    {"message-truncated", kWarn + "bootstrap.cc:224 NCCL WARN Message truncated : received 1024 bytes instead of 256"},
    {"message-truncated", kWarn + "transport/net_socket.cc:480 NCCL WARN NET/Socket : peer 10.0.0.12<4000> message "
                                  "truncated : receiving 1048576 bytes instead of 524288"},
    {"network-not-found", kWarn + "net.cc:560 NCCL WARN Error: network IB not found."},
    {"network-not-found", kWarn + "plugin/net.cc:349 NCCL WARN Failed to initialize any NET plugin"},
    {"net-id-not-found", kWarn + "graph/search.cc:770 NCCL WARN Could not find NET with id 0"},
    {"nic-merge", kWarn + "graph/topo.cc:1300 NCCL WARN TOPO/NET : Could not force merge NICs mlx5_0,mlx5_9. Please "
                          "specify a valid NCCL_NET_FORCE_MERGE string."},
    {"efa-request", kWarn + "nccl_ofi_rdma.c:1000 NCCL WARN NET/OFI Request 0x7f completed with error. RC: 107. "
                            "Error: 4 (Unresponsive receiver)"},
    {"no-algorithm", kWarn + "enqueue.cc:2063 NCCL WARN No algorithm/protocol available for function AllGather with "
                             "datatype ncclInt8. NCCL_ALGO was set to Tree."},
    {"topology-file", kWarn + "graph/xml.cc:330 NCCL WARN XML Topology has wrong version 2, 1 needed"},
    {"no-transport", kWarn + "transport.cc:50 NCCL WARN No transport found for rank 0[1b000] -> rank 1[43000]"},
    {"nvls-multicast", kWarn + "transport/nvls.cc:165 NCCL WARN Cuda failure 1 'invalid argument'"},
    {"nvls-multicast", kWarn + "transport/nvls.cc:376 NCCL WARN Failed to bind NVLink SHARP (NVLS) Multicast memory "
                               "of size 16777216 : CUDA error 2 'out of memory'."},
    {"mnnvl-imex", kWarn + "mnnvl.cc:74 NCCL WARN MNNVL (cliqueSize 8) is available but not working on this system. "
                           "Check the IMEX channel configuration (/dev/nvidia-caps-imex-channels)."},
    {"p2p-disabled-nvlink", kWarn + "graph/paths.cc:330 NCCL WARN P2P is disabled between NVLINK connected GPUs 1 "
                                    "and 0. This should not be the case given their connectivity"},
    {"p2p-hidden-gpu", kWarn + "transport/p2p.cc:275 NCCL WARN Cuda failure 101 'invalid device ordinal'"},
    {"peer-mapping", kWarn + "transport/p2p.cc:355 NCCL WARN failed to peer with device 4(=b7000): 217 peer access "
                             "is not supported between these two devices"},
    {"fabric-not-ready", "node1: Test CUDA failure common.cu:941 'system not yet initialized'"},
    {"nvlink-uncorrectable", "RuntimeError: CUDA error: uncorrectable NVLink error detected during the execution"},
    {"duplicate-gpu",
     kWarn + "init.cc:916 NCCL WARN Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 1b000"},
    {"duplicate-gpu", kWarn + "init.cc:1057 NCCL WARN Multiple Ranks are using the same GPU/Partition. Set "
                              "NCCL_MULTI_RANK_GPU_ENABLE=1 to enable this configuration."},
    {"gpu-out-of-memory", kWarn + "include/alloc.h:246 NCCL WARN Cuda failure 2 'out of memory'"},
    {"gpu-out-of-memory",
     "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 "
     "GiB"},
    {"invalid-device", "RuntimeError: CUDA error: invalid device ordinal"},
    {"no-gpu", "RuntimeError: No CUDA GPUs are available"},
    {"driver-too-old", "cudaGetDeviceCount failed: CUDA driver version is insufficient for CUDA runtime version"},
    {"driver-mismatch", "Failed to initialize NVML: Driver/library version mismatch"},
    {"no-kernel-image", "RuntimeError: CUDA error: no kernel image is available for execution on the device"},
    {"ecc", "RuntimeError: CUDA error: uncorrectable ECC error encountered"},
    {"gpu-lost",
     "Unable to determine the device handle for GPU0000:1B:00.0: GPU is lost.  Reboot the system to recover this "
     "GPU"},
    {"illegal-access", "RuntimeError: CUDA error: an illegal memory access was encountered"},
    {"device-assert", "RuntimeError: CUDA error: device-side assert triggered"},
    {"cuda-after-fork",
     "RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use "
     "the 'spawn' start method"},
    {"dev-shm-full", kWarn + "os/linux.cc:795 NCCL WARN Error: failed to extend /dev/shm/nccl-Ab3xYz to 9637892 "
                             "bytes, error: No space left on device (28)"},
    {"dev-shm-full", kWarn + "misc/shmutils.cc:87 NCCL WARN Error while creating shared memory segment "
                             "/dev/shm/nccl-Ab3xYz (size 9637888)"},
    {"dev-shm-other-container",
     kWarn + "misc/shmutils.cc:87 NCCL WARN Error while attaching to shared memory segment /dev/shm/nccl-Ab3xYz "
             "(size 9637888), error: No such file or directory (2)"},
    {"data-loader-shm",
     "RuntimeError: DataLoader worker (pid 4711) is killed by signal: Bus error. It is possible that dataloader's "
     "workers are out of shared memory."},
    {"bus-error", "[node1:4711] Signal: Bus error (7)"},
    {"master-port-taken",
     "torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. port: "
     "29500, useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use"},
    {"master-port-taken",
     "[W socket.cpp:426] [c10d] The server socket has failed to bind to [::]:29500 (errno: 98 - Address already in "
     "use)."},
    {"master-is-loopback",
     "[E socket.cpp:793] [c10d] The client socket has timed out after 1800s while trying to connect to (127.0.0.1, "
     "48391)."},
    {"master-no-answer",
     "torch.distributed.DistNetworkError: The client socket has timed out after 600000ms while trying to connect to "
     "(10.0.0.11, 29500)."},
    {"master-unknown-name",
     "[W socket.cpp:697] [c10d] The IPv6 network addresses of (node1-ib, 29500) cannot be retrieved (gai error: -2 - "
     "Name or service not known)."},
    {"rendezvous-env-missing",
     "ValueError: Error initializing torch.distributed using env:// rendezvous: environment variable RANK expected, "
     "but not set"},
    {"ranks-missing",
     "RuntimeError: Timed out initializing process group in store based barrier on rank: 0, for key: "
     "store_based_barrier_key:1 (world_size=2, worker_count=1, timeout=0:10:00)"},
    {"ranks-missing",
     "torch.distributed.DistStoreError: Timed out after 301 seconds waiting for clients. 1/2 clients joined."},
    {"nccl-id-missing",
     "torch.distributed.DistBackendError: [1] is setting up NCCL communicator and retrieving ncclUniqueId from [0] "
     "via c10d key-value store by key '0', but store->get('0') got error: wait timeout after 600000ms, keys: "
     "/default_pg/0//cuda//0"},
    {"gloo-loopback",
     "RuntimeError: Gloo connectFullMesh failed with [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:152] "
     "timed out connecting: SO_ERROR: Connection refused, remote=[127.0.0.1]:14215"},
    {"gloo-interface",
     "RuntimeError: [enforce fail at /pytorch/third_party/gloo/gloo/transport/tcp/device.cc:83] ifa != nullptr. "
     "Unable to find address for: ib0"},
    {"gloo-mesh",
     "[E ProcessGroupGloo.cpp:138] Gloo connectFullMesh failed with "
     "[../third_party/gloo/gloo/transport/tcp/pair.cc:144] no error"},
    {"first-collective-timeout",
     "[rank0]:[E1218 20:27:21.426415540 ProcessGroupNCCL.cpp:629] [Rank 0] Watchdog caught collective operation "
     "timeout: WorkNCCL(SeqNum=1, OpType=BROADCAST, NumelIn=131072000, NumelOut=131072000, Timeout(ms)=600000) ran "
     "for 600081 milliseconds before timing out."},
    {"collective-timeout",
     "[E ProcessGroupNCCL.cpp:737] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1580, "
     "OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 1802212 milliseconds before timing out."},
    {"watchdog-stuck",
     "[rank3]:[F ProcessGroupNCCL.cpp:1250] [PG 0 Rank 3] [PG 0 Rank 3] ProcessGroupNCCL's watchdog got stuck for "
     "480 seconds without making progress in monitoring enqueued collectives."},
    {"collectives-differ",
     "RuntimeError: Detected mismatch between collectives on ranks. Rank 0 is running collective: "
     "CollectiveFingerPrint(OpType=ALLGATHER"},
    {"monitored-barrier", "RuntimeError: Rank 1 failed to pass monitoredBarrier in 2000 ms"},
    {"ddp-unused-parameters",
     "RuntimeError: Expected to have finished reduction in the prior iteration before starting a new one."},
    {"group-not-initialized",
     "ValueError: Default process group has not been initialized, please make sure to call init_process_group."},
    {"nccl-symbol-missing",
     "ImportError: /opt/venv/lib/python3.11/site-packages/torch/lib/libtorch_cuda.so: undefined symbol: "
     "ncclCommRegister"},
    {"nccl-library-missing",
     "./all_reduce_perf: error while loading shared libraries: libnccl.so.2: cannot open shared object file: No such "
     "file or directory"},
    {"oom-kill",
     "slurmstepd: error: Detected 1 oom_kill event in StepId=440575.0. Some of the step tasks have been OOM Killed."},
    {"oom-kill", "srun: error: node7: tasks 1-3: Out Of Memory"},
    {"time-limit", "slurmstepd: error: *** JOB 42221 ON node7 CANCELLED AT 2022-04-14T16:20:46 DUE TO TIME LIMIT ***"},
    {"node-failure", "srun: error: Node failure on node7"},
    {"job-cancelled", "slurmstepd: error: *** STEP 440575.0 ON node7 CANCELLED AT 2023-12-05T07:16:01 ***"},
    {"no-mpi-plugin", "srun: error: Couldn't find the specified plugin name for mpi/pmix looking at all files"},
    {"pmix-fence-timeout",
     "slurmstepd: error:  mpi/pmix_v4: pmixp_coll_ring_reset_if_to: node1 [0]: pmixp_coll_ring.c:742: 0x14f8: "
     "collective timeout seq=0"},
    {"pmix-no-connection",
     "slurmstepd: error:  mpi/pmix_v2: pmixp_dconn_connect: node1 [0]: pmixp_dconn.h:246: Cannot establish direct "
     "connection to node1 (0)"},
    {"program-missing", "slurmstepd: error: execve(): ./train: No such file or directory"},
    {"step-cannot-start",
     "srun: error: Unable to create step for job 77: Requested node configuration is not available"},
    {"ompi-without-pmi", "but OMPI was not built with SLURM's PMI support and therefore cannot"},
    {"pmix-unreachable", "[node1:94018] OPAL ERROR: Unreachable in file pmix3x_client.c at line 112"},
    {"pmix-shared-store", "[node1:35779] PMIX ERROR: ERROR in file gds_ds12_lock_pthread.c at line 206"},
    {"pmix-shared-store",
     "[node1:158826] PMIX ERROR: PMIX_ERR_FILE_OPEN_FAILURE in file ../../../../../src/mca/gds/shmem2/gds_shmem2.c "
     "at line 1056"},
    {"pmix-munge", "  pmix_psec_base_open failed"},
    {"orte-lost-daemon", "ORTE has lost communication with a remote daemon."},
    {"orte-init", "It looks like orte_init failed for some reason; your parallel process is"},
    {"ompi-tcp", "WARNING: Open MPI failed to TCP connect to a peer MPI process.  This"},
    {"no-slots", "There are not enough slots available in the system to satisfy the 8"},
    {"mpi-abort", "MPI_ABORT was invoked on rank 2 in communicator MPI_COMM_WORLD"},
    {"peer-closed",
     kWarn + "misc/socket.cc:58 NCCL WARN socketProgress: Connection closed by remote peer node2<41033>"},
    {"peer-closed", "node2: Test NCCL failure common.cu:1005 'remote process exited or there was a network error / '"},
    {"gloo-peer-closed",
     "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer "
     "[10.0.0.12]:58054"},
    {"store-gone",
     "[rank12]:[W318 10:00:41.915284135 TCPStore.cpp:125] [c10d] recvValue failed on SocketImpl(fd=135, "
     "addr=[node2]:48750, remote=[node1]:20000): Connection reset by peer"},
    {"nccl-system-error",
     "ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error."},
    {"nccl-cuda-error",
     "node1: Test NCCL failure common.cu:1005 'unhandled cuda error (run with NCCL_DEBUG=INFO for details) / '"},
    {"nccl-invalid-usage", "ncclInvalidUsage: This usually reflects invalid usage of NCCL library."},
    {"mpi-init-failed", "*** An error occurred in MPI_Init_thread"},
};

const std::vector<std::string> kHarmless = {
    "",
    " ",
    "*",
    "NCCL",
    "NCCL WARN",
    "NCCL WARN ",
    "error",
    "failed",
    "timeout",
    "timed out",
    "Killed",
    "status=12",
    "vendor err 129",
    "SIGTERM",
    kInfo + "Bootstrap : Using ens5f1:172.20.0.11<0>",
    kInfo + "cudaDriverVersion 12080",
    kInfo + "NCCL version 2.27.7+cuda12.8",
    kInfo + "NET/Plugin: Could not find: libnccl-net.so. Using internal net plugin.",
    kInfo +
        "NET/Plugin : Plugin load (libnccl-net.so) returned 2 : libnccl-net.so: cannot open shared object file: No "
        "such file or directory",
    kInfo + "Failed to open libibverbs.so[.1]",
    kInfo + "NET/IB : No device found.",
    kInfo + "NET/IB : Using [0]mlx5_4:1/RoCE [1]mlx5_2:1/RoCE [RO]; OOB ens5f1:172.20.0.11<0>",
    kInfo + "NET/Socket : Using [0]ens5f1:172.20.0.11<0>",
    kInfo + "Using network IB",
    kInfo + "NCCL_SOCKET_IFNAME set by environment to =ens5f1",
    kInfo + "NCCL_IB_TIMEOUT set by environment to 22.",
    kInfo + "NCCL_IB_GID_INDEX set by environment to 3.",
    kInfo + "Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0/GDRDMA",
    kInfo + "Channel 00 : 1[43000] -> 0[1b000] via P2P/CUMEM/read",
    kInfo + "Connected all rings",
    kInfo + "comm 0x559d5aa8ca00 rank 4 nranks 8 cudaDev 0 nvmlDev 0 busId 42000 - Init COMPLETE",
    kInfo + "comm 0x559d5aa8ca00 rank 4 nranks 8 cudaDev 0 busId 42000 - Destroy COMPLETE",
    kInfo + "NVLS multicast support is not available on dev 0",
    kInfo +
        "Failed to bind NVLink SHARP (NVLS) Multicast memory of size 16777216 : CUDA error 2 'out of memory'. "
        "Proceeding without NVLS support.",
    kInfo +
        "P2P is disabled between connected GPUs 1 and 0. You can repress this message with "
        "NCCL_IGNORE_DISABLED_P2P=1.",
    kInfo + "MNNVL busId 0x1b000 fabric UUID 0.0 cliqueId 0x0 state 3 healthMask 0x0",
    kInfo + "DMA-BUF is available on GPU device 0",
    kInfo + "GPU Direct RDMA Disabled for HCA 0 'mlx5_4'",
    kInfo +
        "socketPollConnect: connect to 10.0.0.11<41033> returned Connection refused, retrying (1/34) after sleep for "
        "100 msec",
    kInfo + "misc/socket.cc:881 -> 3",
    kInfo + "transport/net.cc:1298 -> 6",
    kInfo + "Got completion from peer 10.0.0.12<38560> with status=0 opcode=1 len=0 vendor err 0 (Send)",
    kInfo + "TUNER/Plugin: Could not find: libnccl-tuner.so",
    kInfo + "RAS client listening socket at ::1<28028>",
    kInfo + "Call to bind failed: Address already in use",
    kInfo + "Call to connect returned Connection timed out, retrying",
    kInfo + "[Service thread] Connection closed by localRank 3",
    kInfo + "ncclCommInitRank comm 0x5 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1b000 commId 0xabc - Init START",
    "[rank0]:[W318 ProcessGroupNCCL.cpp:1496] Warning: WARNING: destroy_process_group() was not called before "
    "program exit",
    "[W socket.cpp:464] [c10d] The server socket cannot be initialized on [::]:29500 (errno: 97 - Address family not "
    "supported by protocol).",
    "INFO:torch.distributed.distributed_c10d:Waiting in store based barrier to initialize process group for rank: 0, "
    "key: store_based_barrier_key:1 (world_size=4, worker_count=3, timeout=0:30:00)",
    "[Gloo] Rank 0 is connected to 7 peer ranks. Expected number of connected peer ranks is : 7",
    "Setting OMP_NUM_THREADS environment variable for each process to be 1 in default",
    "step 100 | loss 2.31 | lr 3.0e-04 | grad norm 0.91 | 412 ms",
    "step 101 | loss nan | lr 3.0e-04",
    "Epoch 3:  44%|####4     | 880/2000 [05:12<06:37,  2.82it/s, loss=1.93]",
    "INFO: HTTP request timeout set to 600 s",
    "timeout=1800, retries=12, status=ok",
    "download failed, retrying (1/5): Connection reset by peer",
    "requests.exceptions.ConnectionError: Connection refused",
    "wandb: Network error (ConnectionError), entering retry loop.",
    "wandb: Network error resolved after 0:00:04.2, resuming normal operation.",
    "Broken pipe",
    "OSError: [Errno 98] Address already in use",
    "Saving checkpoint to /scratch/run/step-2000.pt",
    "Loaded 12 shards; 0 failed; 0 timed out",
    "Traceback (most recent call last):",
    "  File \"/opt/app/train.py\", line 129, in main",
    "ValueError: could not convert string to float: 'abc'",
    "KeyError: 'RANK'",
    "AssertionError",
    "terminate called after throwing an instance of 'std::runtime_error'",
    "Segmentation fault (core dumped)",
    "# nThread 1 nGpus 1 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 "
    "validation: 1",
    "#  Rank  0 Group  0 Pid 498607 on node1 device  0 [0x1b] NVIDIA H200",
    "     8             2     float     sum      -1    12.34    0.00    0.00      0    12.20    0.00    0.00      0",
    "# Out of bounds values : 0 OK",
    "# Avg bus bandwidth    : 361.2",
    "srun: job 77 queued and waiting for resources",
    "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.",
    "srun: error: node7: task 3: Segmentation fault (core dumped)",
    "srun: error: node7: task 3: Exited with exit code 1",
    "srun: Terminating StepId=440575.0",
    "slurmstepd: info: core files are written to /scratch",
    "out of memory was not seen in the last 100 steps",
    "max locked memory is unlimited",
    "the model uses shared memory for its embeddings",
    "nvidia-smi: 8 GPUs, driver 550.54.15",
    "Unable to import triton, falling back",
    "Using device 3 of 8; peer access enabled",
    "ECC errors corrected so far: 0",
    "\001\002\177\200\377 binary",
    "\033[31mred text\033[0m",
    "\033[",
    "\033",
};

}  // namespace

std::vector<Sample> Samples() { return kSamples; }
std::vector<std::string> HarmlessLines() { return kHarmless; }

}  // namespace nccl_tune::launcher
