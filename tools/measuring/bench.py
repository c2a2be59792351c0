# SPDX-License-Identifier: Apache-2.0
"""nccl-bench's mpi backend to a plain loop of MPI_Allreduce, on the embedded cluster, in pairs: tools/perf --bench."""
import random
import statistics

from tools.measuring import on_cluster
from tools.measuring.figures import Figure

INSIDE = "tools/measuring/bench_inside.py"
LOOP = "bazel-bin/tests/perf/mpi_loop"
TARGETS = ["//tests/perf:mpi_loop"]
SEED = 1
RESAMPLED = 2000
LARGE = 1 << 20                        # from here on the wire takes nearly all of the time
LARGE_BAND, SMALL_BAND = (0.98, 1.02), (0.90, 1.10)
UNITS = ((1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B"))


def size_text(size):
    """8 B, 64 KiB, 32 MiB."""
    scale, unit = next(pair for pair in UNITS if size >= pair[0])
    return f"{size // scale} {unit}"


def per_run(times):
    """One time per run: the mean of out of place and in place."""
    return [statistics.mean(pair) for pair in times]


def ratio_of_medians(pairs):
    """Of the first of each pair to the second."""
    return statistics.median(a for a, _ in pairs) / statistics.median(b for _, b in pairs)


def interval(pairs, draw):
    """95 % of the ratios when as many pairs are drawn from these again."""
    found = sorted(ratio_of_medians(draw.choices(pairs, k=len(pairs))) for _ in range(RESAMPLED))
    return found[RESAMPLED * 25 // 1000], found[RESAMPLED * 975 // 1000 - 1]


def size_figures(size, rows, draw):
    """The loop's time, the ratio with its target, and the loop to itself."""
    loop = per_run(rows["loop"][size])
    bench = list(zip(per_run(rows["nccl-bench"][size]), loop, strict=True))
    same = list(zip(per_run(rows["loop again"][size]), loop, strict=True))
    name = f"all_reduce, {size_text(int(size))}"
    least, most = LARGE_BAND if int(size) >= LARGE else SMALL_BAND
    return [
        Figure(f"{name}: the plain loop, median", statistics.median(loop) / 1000, "ms"),
        Figure(f"{name}: nccl-bench to the loop", ratio_of_medians(bench), "", most, is_ratio=True, least=least,
               interval=interval(bench, draw)),
        Figure(f"{name}: the loop to itself", ratio_of_medians(same), "", interval=interval(same, draw)),
    ]


def alone_figures(rows):
    """What the frame adds to a call that does next to nothing."""
    (size, loop), = rows["loop"].items()
    loop = per_run(loop)

    def more(name):
        return 1000 * statistics.median(b - a for a, b in zip(loop, per_run(rows[name][size]), strict=True))

    name = f"one rank, {size_text(int(size))}"
    return [
        Figure(f"{name}: the plain loop, median", 1000 * statistics.median(loop), "ns"),
        Figure(f"{name}: nccl-bench more than the loop", more("nccl-bench"), "ns"),
        Figure(f"{name}: the loop more than itself", more("loop again"), "ns"),
    ]


def from_rows(found):
    """The figures in what bench_inside.py prints. ValueError: a part is missing."""
    draw = random.Random(SEED)
    try:
        together = found["together"]
        pairs = [figure for size in together["loop"] for figure in size_figures(size, together, draw)]
        again = Figure("runs done again, as Open MPI crashed in MPI_Init", found["repeated"], "")
        return pairs + alone_figures(found["alone"]) + [again]
    except (KeyError, ValueError, statistics.StatisticsError) as error:
        raise ValueError(f"bench_inside.py printed no whole table: {error!r}") from error


def measure(run_json, pairs, nodes=3):
    """All figures, on a cluster of its own. Prints what both sides were given for Open MPI."""
    job = ("salloc", "-Q", f"-N{nodes}", "--ntasks-per-node=1")
    found = on_cluster.measure(run_json, INSIDE, (pairs, nodes, SEED), nodes, [LOOP], job)
    figures = from_rows(found)
    for name, value in sorted(found["settings"].items()):
        print(f"both with {name}={value}")
    print(f"{pairs} pairs, order drawn from seed {SEED}; ratios of medians, with 95 % of what drawing the pairs again gives")
    return figures
