# SPDX-License-Identifier: Apache-2.0
"""What nccl-launch costs the start of a step, on the embedded cluster, in pairs: tools/perf --launch."""
import statistics

from tools.measuring import on_cluster
from tools.measuring.figures import Figure
from tools.measuring.steps import median_difference

INSIDE = "tools/measuring/launch_inside.py"
TARGETS = ["//tests/perf:pmix_floor"]
EXEC_MS, DEFAULT_MS = 10.0, 60.0         # over the floor
EXEC_RATIO, DEFAULT_RATIO = 1.10, 1.55   # the same, where the floor's program begins after 108 ms
SUPERVISOR_MIB = 8.0


def start_figures(rows, tasks):
    """How much later a program begins, and srun ends."""

    def more(name, base="floor", what="begin"):
        return median_difference(rows, name, what, base)

    def to_floor(name):
        return statistics.median(b / a for a, b in zip(rows["floor"]["begin"], rows[name]["begin"]))

    begin = 1000 * statistics.median(rows["srun"]["begin"])
    wall = 1000 * statistics.median(rows["srun"]["wall"])
    return [
        Figure(f"launch, {tasks}: the program begins, srun --mpi=pmix alone", begin, "ms"),
        Figure("launch: floor more than that", more("floor", "srun"), "ms"),
        Figure("launch: the floor once more", more("floor again"), "ms"),
        Figure("launch: plain exec more than the floor", more("exec"), "ms", EXEC_MS),
        Figure("launch: plain exec to the floor", to_floor("exec"), "", EXEC_RATIO, is_ratio=True),
        Figure("launch: default more than the floor", more("default"), "ms", DEFAULT_MS),
        Figure("launch: default to the floor", to_floor("default"), "", DEFAULT_RATIO, is_ratio=True),
        Figure("launch: plain exec more than srun alone", more("exec", "srun"), "ms"),
        Figure("launch: default more than srun alone", more("default", "srun"), "ms"),
        Figure("launch, to the end: srun --mpi=pmix alone", wall, "ms"),
        Figure("launch, to the end: the floor once more", more("floor again", what="wall"), "ms"),
        Figure("launch, to the end: plain exec more than the floor", more("exec", what="wall"), "ms", EXEC_MS),
        Figure("launch, to the end: default more than the floor", more("default", what="wall"), "ms", DEFAULT_MS),
        Figure("launch, to the end: default more than srun alone", more("default", "srun", "wall"), "ms"),
    ]


def from_rows(found, tasks):
    """The figures in what launch_inside.py prints. ValueError: a part is missing."""
    try:
        return start_figures(found["rows"], tasks) + stay_figures(found["stays"])
    except (KeyError, statistics.StatisticsError) as error:
        raise ValueError(f"launch_inside.py printed no whole table: {error}") from error


def stay_figures(stays):
    """What is left of the launcher while the program runs. One process too many is a fault, as on any machine."""
    supervisors = stays["default"]
    out = [
        Figure("launch: processes that stay, plain exec", len(stays["exec"]), "", 0, is_ratio=True),
        Figure("launch: processes that stay, default", len(supervisors), ""),
    ]
    if supervisors:
        out += [
            Figure("launch: the largest of them, RSS", max(one["rss_kib"] for one in supervisors) / 1024, "MiB",
                   SUPERVISOR_MIB),
            Figure("launch: their mean share, Pss", statistics.mean(one["pss_kib"] for one in supervisors) / 1024, "MiB"),
        ]
    return out


def measure(run_json, rounds, nodes=3, tasks=2):
    """All figures, on a cluster of its own."""
    job = ("salloc", "-Q", f"-N{nodes}", f"--ntasks-per-node={tasks}")
    found = on_cluster.measure(run_json, INSIDE, (rounds, nodes * tasks), nodes, ["bazel-bin/tests/perf/pmix_floor"], job)
    return from_rows(found, f"{nodes} nodes x {tasks} tasks")
