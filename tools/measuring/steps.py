# SPDX-License-Identifier: Apache-2.0
"""What the plugin costs a step of Slurm, on the embedded cluster, in pairs: tools/perf --steps."""
import statistics

from tools.measuring import on_cluster
from tools.measuring.figures import Figure

INSIDE = "tools/measuring/steps_inside.py"
ON_MS, ON_RATIO, OFF_MS = 15.0, 1.10, 4.0  # of 3 nodes that share these processors
NODE_MS, SRUN_MS = 6.0, 3.0                # of CPU, on any machine


def median_difference(rows, name, what, base="empty"):
    """Milliseconds: the median of the differences of the rounds."""
    return 1000 * statistics.median(b - a for a, b in zip(rows[base][what], rows[name][what]))


def mean_difference(rows, name, what, base="empty"):
    """Milliseconds: where single values are whole clock ticks, only their sum says something."""
    return 1000 * (statistics.mean(rows[name][what]) - statistics.mean(rows[base][what]))


def from_rows(rows, tasks):
    """The figures in what steps_inside.py prints. ValueError: a variant is missing."""
    try:
        ratio = statistics.median(b / a for a, b in zip(rows["empty"]["wall"], rows["on"]["wall"]))
        return [
            Figure(f"step, {tasks}: wall without the plugin", 1000 * statistics.median(rows["empty"]["wall"]), "ms"),
            Figure("step: wall, the same once more", median_difference(rows, "empty again", "wall"), "ms"),
            Figure("step: wall more when tuned", median_difference(rows, "on", "wall"), "ms", ON_MS),
            Figure("step: tuned to without the plugin", ratio, "", ON_RATIO, is_ratio=True),
            Figure("step: wall more when off", median_difference(rows, "off", "wall"), "ms", OFF_MS),
            Figure("step: wall more when not asked for", median_difference(rows, "not asked", "wall"), "ms", OFF_MS),
            Figure("step: CPU more of a node's slurmstepd", mean_difference(rows, "on", "node"), "ms", NODE_MS),
            Figure("step: the same, measuring alone", mean_difference(rows, "empty again", "node"), "ms"),
            Figure("step: CPU more of srun", mean_difference(rows, "on", "srun"), "ms", SRUN_MS),
        ]
    except (KeyError, statistics.StatisticsError) as error:
        raise ValueError(f"steps_inside.py printed no whole table: {error}") from error


def measure(run_json, pairs, nodes=3, tasks=2):
    """All figures, on a cluster of its own."""
    return from_rows(on_cluster.measure(run_json, INSIDE, (pairs, nodes, tasks), nodes), f"{nodes} nodes x {tasks} tasks")
