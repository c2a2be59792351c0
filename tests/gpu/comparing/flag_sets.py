# SPDX-License-Identifier: Apache-2.0
"""The flag sets for which our output is compared with nccl-tests', and the differences that are meant to be."""
from dataclasses import dataclass

COLLECTIVES = ("all_reduce", "all_gather", "broadcast", "reduce_scatter", "reduce", "alltoall", "alltoallv", "scatter",
               "gather", "sendrecv", "hypercube")
MATRIX_FILE = "matrix.txt"
MATRIX = "65536 131072\n32768 16384\n"
REPORT_FILE = "report.json"

REFUSED = 6  # our answer to wrong use; nccl-tests returns -1
MINUS_ONE = 255

STRICT = "a value that is no value is refused; nccl-tests says so on stdout and measures something else"


@dataclass(frozen=True)
class FlagSet:
    """One line to compare. `status` is ours and nccl-tests' exit status. `stdout_may_differ`: the reason, if it may."""

    name: str
    collective: str
    flags: str
    ranks: int = 1
    environment: tuple = ()
    status: tuple = (0, 0)
    stdout_may_differ: str = ""

    @property
    def has_report(self):
        """Whether the programs write a JSON file."""
        return REPORT_FILE in self.flags


def _one_rank():
    small = "-b 8 -e 1M -f 16 -n 5"
    two = "-b 1K -e 64K -f 64 -n 5"
    for collective in COLLECTIVES:
        yield FlagSet(collective, collective, small)
    for name, flags in (
            ("no-check", f"{small} -c 0"), ("many-checks", f"{two} -c 3"), ("iterations", f"{two} -n 7 -w 3 -m 4"),
            ("no-warmup", f"{two} -w 0"), ("step", "-b 1K -e 4K -i 512 -n 5"), ("default-step", "-b 1M -e 3M -n 5"),
            ("fractions", "-b 0.5k -e 1.5K -i 256 -n 5"), ("no-element", "-b 1 -e 2 -f 2 -n 5"),
            ("blocking-1", f"{two} -z 1"), ("blocking-1-many", f"{two} -z 1 -m 3"), ("blocking-2", f"{two} -z 2"),
            ("blocking-3", f"{two} -z 3"), ("per-iteration", f"{two} -I 1"), ("per-iteration-skip", f"{two} -I 1 -K 2"),
            ("per-iteration-z3", f"{two} -I 1 -z 3 -m 2"), ("per-iteration-stamps", f"{two} -I 1 -S 1 -c 0"),
            ("stamps", f"{two} -S 1"), ("cpu-time", f"{two} -C 1"), ("cpu-time-stamps", f"{two} -C 1 -S 1"),
            ("graph", f"{two} -G 2"), ("graph-z3", f"{two} -G 2 -z 3"), ("graph-per-iteration", f"{two} -G 1 -I 1"),
            ("skip-alone", f"{two} -K 2"), ("skip-all", f"{two} -I 1 -K 5"), ("per-iteration-bad", f"{two} -I 2"),
            ("registered", f"{two} -R 1"), ("symmetric", f"{two} -R 2"), ("device-1", f"{two} -R 2 -D 1"),
            ("device-2", f"{two} -R 2 -D 2 -V 8"), ("device-ctas", f"{two} -R 2 -D 1 -V 300"),
            ("cta-0", f"{two} -x 0"), ("cta-1", f"{two} -x 1"), ("cta-2", f"{two} -x 2"), ("memory", f"{two} -M 1"),
            ("unaligned", f"{two} -u 3"), ("all-types", "-b 64K -e 64K -n 2 -d all"), ("all-ops", "-b 64K -e 64K -n 2 -o all"),
            ("cycles", f"{two} -N 2"), ("parallel-init", f"{two} -p 1"),
            ("parallel-memory", f"{two} -p 1 -M 1 -R 1"), ("null-stream", f"{two} -y 1"), ("timeout", f"{two} -T 30"),
            ("average-0", f"{two} -a 0"), ("average-2", f"{two} -a 2"), ("average-3", f"{two} -a 3"),
            ("json", f"{small} -J {REPORT_FILE}"), ("json-per-iteration", f"{two} -I 1 -K 1 -J {REPORT_FILE}"),
            ("json-cpu-time", f"{two} -C 1 -c 0 -i 9K -J {REPORT_FILE}"), ("json-no-json", f"{two} -J report.txt"),
            ("memory-cut", "-b 200G -e 200G -n 1 -w 0 -c 0"), ("memory-cut-check", "-b 200G -e 300G -n 1 -w 0 -c 1"),
            ("long-names", "--minbytes 1K --maxbytes=4K --stepfactor 2 --iters 5 --check 1")):
        yield FlagSet(name, "all_reduce", flags)
    yield FlagSet("all-types-ops", "all_reduce", "-b 4K -e 4K -n 2 -d all -o all", status=(0, 3),
                  stdout_may_differ="NCCL refuses avg and mulsum of 8-bit floats on one rank: ours leaves them out of "
                                    "all, nccl-tests ends there")
    yield FlagSet("all-ops-reduce-scatter", "reduce_scatter", "-b 64K -e 64K -n 2 -o all -d bfloat16")
    yield FlagSet("all-ops-sendrecv", "sendrecv", "-b 64K -e 64K -n 2 -o all")
    yield FlagSet("all-types-hypercube", "hypercube", "-b 64K -e 64K -n 2 -d all")
    yield FlagSet("all-roots", "broadcast", f"{two} -r -1")
    yield FlagSet("minus-one-root", "reduce", f"{two} -r -1 -o max -d int32")
    yield FlagSet("device-1-alltoall", "alltoall", f"{two} -R 2 -D 1")
    yield FlagSet("bandwidth-met", "broadcast", small, environment=(("NCCL_TESTS_MIN_BW", "0.000001"),))
    yield FlagSet("bandwidth-missed", "broadcast", small, environment=(("NCCL_TESTS_MIN_BW", "1000000"),), status=(7, 7))
    yield from _alltoallv(1)


def _alltoallv(ranks):
    tail = f"-{ranks}" if ranks > 1 else ""
    flags, prefix = "-b 64K -e 1M -f 4 -n 3", "NCCL_TESTS_ALLTOALLV_"
    for name, variables in (("spread-0", {"SPREAD": "0"}), ("spread-half", {"SPREAD": "0.5"}),
                            ("summary", {"PRINT_SUMMARY": "1", "SPREAD": "0.25"})):
        yield FlagSet(f"alltoallv-{name}{tail}", "alltoallv", flags, ranks, tuple((prefix + k, v) for k, v in variables.items()))
    matrix = ((f"{prefix}MATRIX_FILE", MATRIX_FILE),)
    yield FlagSet(f"alltoallv-matrix{tail}", "alltoallv", "-b 1M -e 1M -n 3", ranks, matrix)
    yield FlagSet(f"alltoallv-matrix-scale{tail}", "alltoallv", "-b 1M -e 1M -n 3", ranks,
                  (*matrix, (f"{prefix}MATRIX_SCALE", "0.5"), (f"{prefix}PRINT_SUMMARY", "1")))


def _wrong_use():
    def refused(name, flags, **more):
        return FlagSet(f"wrong-{name}", "all_reduce", flags, status=(REFUSED, MINUS_ONE), **more)

    yield refused("size", "-b foo")
    yield refused("unit", "-e 8Q")
    yield refused("order", "-b 64 -e 8")
    yield refused("device", "-D 1")
    yield FlagSet("wrong-gpus", "all_reduce", "-b 8 -e 8 -g 9", status=(5, 5),
                  stdout_may_differ="ours says so before it begins; nccl-tests in the middle of its header")
    yield FlagSet("wrong-flag", "all_reduce", "--bogus 1", status=(REFUSED, 0),
                  stdout_may_differ="an unknown flag is an error; nccl-tests prints its usage and ends with 0")
    yield FlagSet("wrong-type", "all_reduce", "-b 8 -e 8 -d foo", status=(REFUSED, 0), stdout_may_differ=STRICT)
    yield FlagSet("wrong-op", "all_reduce", "-b 8 -e 8 -o foo", status=(REFUSED, 0), stdout_may_differ=STRICT)


def _two_ranks():
    flags = "-b 1K -e 1M -f 32 -n 3"
    short = "-b 64K -e 64K -n 3"
    for collective in COLLECTIVES:
        yield FlagSet(f"{collective}-2", collective, flags, 2)
    for name, more in (("no-check", "-c 0"), ("average-0", "-a 0"), ("average-2", "-a 2"), ("average-3", "-a 3"),
                       ("blocking-1", "-z 1"), ("blocking-3", "-z 3"), ("per-iteration", "-I 1"), ("cpu-time", "-C 1"),
                       ("all-types-ops", "-d all -o all -n 1"), ("unaligned", "-u 3"), ("json", f"-J {REPORT_FILE}"),
                       ("json-per-iteration", f"-I 1 -J {REPORT_FILE}"), ("graph", "-G 2"), ("many", "-m 4")):
        yield FlagSet(f"{name}-2", "all_reduce", f"{short} {more}", 2)
    yield FlagSet("all-roots-2", "broadcast", f"{short} -r -1", 2)
    yield FlagSet("small-all-gather-2", "all_gather", "-b 8 -e 64 -i 8 -n 3", 2)
    for name, variables in (("mod", (("NCCL_TESTS_SPLIT", "MOD 2"),)), ("and", (("NCCL_TESTS_SPLIT", "& 0x0"),)),
                            ("div", (("NCCL_TESTS_SPLIT", "DIV 2"),)), ("or", (("NCCL_TESTS_SPLIT", "OR 0b1"),)),
                            ("mask", (("NCCL_TESTS_SPLIT_MASK", "0x1"),))):
        yield FlagSet(f"split-{name}-2", "all_reduce", short, 2, variables)
    yield FlagSet("bandwidth-missed-2", "all_reduce", short, 2, (("NCCL_TESTS_MIN_BW", "1000000"),), (7, 7))
    yield from _alltoallv(2)


def all_sets():
    """Every flag set, one rank before two."""
    return [*_one_rank(), *_wrong_use(), *_two_ranks()]
