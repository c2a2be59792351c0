# SPDX-License-Identifier: Apache-2.0
"""Time to PyTorch's first collective by nccl-launch and by torchrun, on the embedded cluster: tools/perf --torch."""
import statistics

from tools.measuring import on_cluster
from tools.measuring.figures import Figure

INSIDE = "tools/measuring/torch_inside.py"
RATIO = 0.6


def whole_pairs(rows, one, other):
    """The rounds in which every rank of both printed the right sum."""
    return [(a, b) for a, b in zip(rows[one], rows[other]) if a is not None and b is not None]


def from_rows(rows, tasks):
    """The figures in what torch_inside.py prints. ValueError: a variant is missing, or never whole."""
    try:
        pairs = whole_pairs(rows, "nccl-launch", "torchrun")
        same = whole_pairs(rows, "nccl-launch", "nccl-launch again")
        if not pairs or not same:
            raise ValueError("in no round did every rank of both print the right sum")
        count = len(rows["torchrun"])
        return [
            Figure(f"first collective, {tasks}: by nccl-launch", 1000 * statistics.median(a for a, _ in pairs), "ms"),
            Figure("first collective: by torchrun", 1000 * statistics.median(b for _, b in pairs), "ms"),
            Figure("first collective: nccl-launch to torchrun", statistics.median(a / b for a, b in pairs), "", RATIO,
                   is_ratio=True),
            Figure("first collective: nccl-launch to itself", statistics.median(b / a for a, b in same), ""),
            Figure(f"first collective: pairs counted, of {count}", len(pairs), ""),
            *(Figure(f"first collective: not whole by {name}", sum(one is None for one in rows[name]), "") for name in rows),
        ]
    except (KeyError, statistics.StatisticsError) as error:
        raise ValueError(f"torch_inside.py printed no whole table: {error}") from error


def measure(run_json, rounds, nodes=3, tasks=2):
    """All figures, on a cluster of its own."""
    rows = on_cluster.measure(run_json, INSIDE, (rounds, nodes, tasks), nodes, ["tests/payloads/first_collective.py"])
    return from_rows(rows, f"{nodes} nodes x {tasks} ranks")
