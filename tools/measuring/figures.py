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
# nccl-bench's process 0: cost for each rank of the large step by that of the small one, and its memory.
GROWTH_TARGET = 1.5
FRAME_PEAK_TARGET_MIB = 64.0

HEADINGS = ("figure", "measured", "target", "verdict")


@dataclass
class Figure:
    """One line of the table. `is_ratio`: missing the target is a fault, as is being under `least`. `interval`: where the
    value may lie."""

    name: str
    value: float
    unit: str
    target: float = None
    is_ratio: bool = False
    least: float = None
    interval: tuple = None

    @property
    def within(self):
        """Whether the target is met."""
        return self.value <= self.target and (self.least is None or self.value >= self.least)

    @property
    def missed(self):
        """Whether this is a fault."""
        return self.is_ratio and not self.within

    @property
    def verdict(self):
        """One word; none where there is no target."""
        if self.target is None:
            return ""
        if self.is_ratio:
            return "met" if self.within else "missed"
        return "under" if self.within else "over"

    def row(self):
        """The texts of its line."""
        target = ""
        if self.target is not None:
            least = "at most" if self.least is None else f"{self.least:g} to"
            target = f"{least} {self.target:g} {self.unit}".rstrip()
        value = f"{self.value:.2f} {self.unit}".rstrip()
        if self.interval is not None:
            value = f"{self.value:.3f} ({self.interval[0]:.3f} to {self.interval[1]:.3f}) {self.unit}".rstrip()
        return (self.name, value, target, self.verdict)


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


def from_frame(report):
    """The figures in frame_scale's JSON. ValueError: a part is missing."""
    try:
        small, large = report["small"], report["large"]
        out = []
        for part, text in (("start", "start"), ("table", "24 rows with JSON")):
            found = report[part]
            out.append(Figure(f"frame, {text}: CPU, {large} ranks", found["large_ms"], "ms"))
            growth = found["ratio"] / (large / small)
            out.append(Figure(f"frame, {text}: a rank of {large} to one of {small}", growth, "", GROWTH_TARGET, is_ratio=True))
        out.append(Figure("frame: peak memory", report["peak_mib"], "MiB", FRAME_PEAK_TARGET_MIB))
        return out
    except KeyError as error:
        raise ValueError(f"frame_scale printed no {error}") from error


def table(figures):
    """The lines of a table."""
    rows = [HEADINGS, *(figure.row() for figure in figures)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEADINGS))]
    return ["  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip() for row in rows]
