# SPDX-License-Identifier: Apache-2.0
"""Tables and reports as the two programs print them, for the tests beside it."""
from comparing import reports

_TABLE = """\
# nccl-tests version 2.19.6 nccl-headers=22809 nccl-library=22809
{own}# Collective test starting: all_reduce_perf
# nThread 1 nGpus 1 minBytes 1024 maxBytes 2048 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1 validation: 1 graph: 0 unalign: 0
#
# Using devices
#  Rank  0 Group  0 Pid {pid:6d} on         vm device  0 [0000:00:06] NVIDIA H200
#
# {blank:10}  {blank:12}  {blank:8}  {blank:6}  {blank:6}           out-of-place                       in-place          \n\
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong \n\
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)         \n\
        1024           256     float     sum      -1{one}
        2048           512     float     sum      -1{two}
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 0 \n\
#
# Collective test concluded: all_reduce_perf
#

"""
OURS = _TABLE.format(blank="", pid=1234, own="# nccl-bench 0.1.0 backend nccl (NCCL 2.28.9, /usr/lib/libnccl.so.2)\n",
                     one="   123.45   10.00    0.00       0     5.50   20.00    0.00       0",
                     two="  1234.50   10.50    0.00       0     5.60   20.50    0.00       0")
THEIRS = _TABLE.format(blank="", pid=99, own="",
                       one="   120.00   10.29    0.00       0     5.55   19.82    0.00       0",
                       two="  1230.00   10.54    0.00       0     5.61   20.46    0.00       0")
SUMMARY = """\
       65536         16384     float    none      -1# NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY: mode=generated nranks=1 total_bytes=65536 spread=0.250 time_usec=12.34
#   rank=0 send_bytes=65536 recv_bytes=65536 alg_bw=12.34 bus_bw=0.00
    12.34    5.31    0.00       0# NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY: mode=generated nranks=1 total_bytes=65536 spread=0.250 time_usec=12.34
#   rank=0 send_bytes=65536 recv_bytes=65536 alg_bw=12.34 bus_bw=0.00
    12.34    5.31    0.00    N/A
"""
BOTH_REPORT = (
    '{"version":3,"start_time":"2026-12-01 10:00:00","args":["/a/b/all_reduce_perf","-b","8"],"env":["SECRET=1","B=[\\"]"],'
    '"nccl_version":22809,"config":{"nthreads":1,"devices":[{"rank":0,"pid":12,"hostname":"vm"}]},"results":[{"size":8,'
    '"root":"    -1","out_of_place":{"time":12.500000,"alg_bw":0.000000,"bus_bw":0.000000,"nwrong":null}}],'
    '"out_of_bounds":{"count":0,"okay":"true"},"errors":[""],"end_time":"2026-12-01 10:00:01"}')


def report(text, is_ours):
    """What is compared of a report."""
    return reports.forms(text, is_ours)
