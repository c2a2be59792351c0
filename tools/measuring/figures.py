# SPDX-License-Identifier: Apache-2.0
"""Figures with their targets, from what the programs of tests/perf print.

A ratio holds on any machine, as both sides are measured in one run there: missing it is a fault. Milliseconds and bytes
depend on the machine: they are shown as under or over the target, and are no fault.
"""
from dataclasses import dataclass

# Benchmark -> its target in milliseconds of CPU; each also has the target of the ratio.
CPU_TARGETS = {"8x16": 4.0, "8x16_full": 4.0, "42x256": 90.0, "42x256_full": 90.0}
RATIO_TARGET = 1.5
PROCESS_TARGET_MS = 4.0
PEAK_TARGET_MIB = 16.0

HEADINGS = ("figure", "measured", "target", "verdict")


@dataclass
class Figure:
    """One line of the table. `is_ratio`: missing the target is a fault."""

    name: str
    value: float
    unit: str
    target: float = None
    is_ratio: bool = False

    @property
    def missed(self):
        """Whether this is a fault."""
        return self.is_ratio and self.value > self.target

    @property
    def verdict(self):
        """One word; none where there is no target."""
        if self.target is None:
            return ""
        within = self.value <= self.target
        if self.is_ratio:
            return "met" if within else "missed"
        return "under" if within else "over"

    def row(self):
        """The texts of its line."""
        target = "" if self.target is None else f"at most {self.target:g} {self.unit}".rstrip()
        return (self.name, f"{self.value:.2f} {self.unit}".rstrip(), target, self.verdict)


def from_benchmarks(report):
    """The figures in google-benchmark's JSON. ValueError: a benchmark failed, or is not there."""
    found = {}
    for entry in report.get("benchmarks", []):
        name = entry["name"].split("/")[1]
        if entry.get("error_occurred"):
            raise ValueError(f"benchmark {name} failed: {entry.get('error_message', 'no reason given')}")
        found[name] = entry
    missing = [name for name in CPU_TARGETS if name not in found]
    if missing:
        raise ValueError(f"benchmark {missing[0]} is not in the report")
    out = []
    for name, target in CPU_TARGETS.items():
        entry = found[name]
        files = int(entry["files"])
        out.append(Figure(f"{name}: plan, CPU ({files} files)", entry["cpu_ms"], "ms", target))
        out.append(Figure(f"{name}: bare reading, CPU", entry["bare_ms"], "ms"))
        out.append(Figure(f"{name}: plan to bare reading", entry["ratio"], "", RATIO_TARGET, is_ratio=True))
    return out


def from_process(report):
    """The figures in paired_process' JSON. ValueError: a part is missing."""
    try:
        more, program, empty = report["difference"], report["program"], report["empty"]
        return [
            Figure("process: CPU more than an empty program", more["cpu_ms"], "ms", PROCESS_TARGET_MS),
            Figure("process: wall more than an empty program", more["wall_ms"], "ms", PROCESS_TARGET_MS),
            Figure("process: wall of the empty program", empty["wall_ms"], "ms"),
            Figure("process: peak memory", program["peak_mib"], "MiB", PEAK_TARGET_MIB),
            Figure("process: peak memory of the empty program", empty["peak_mib"], "MiB"),
        ]
    except KeyError as error:
        raise ValueError(f"paired_process printed no {error}") from error


def table(figures):
    """The lines of a table."""
    rows = [HEADINGS, *(figure.row() for figure in figures)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEADINGS))]
    return ["  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip() for row in rows]
