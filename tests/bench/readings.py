# SPDX-License-Identifier: Apache-2.0
"""What cloudai, superbench and awk lines read of a run's stdout, held against the JSON report of the same run.

readings.py STDOUT JSON prints a line for each number that is not the report's, and how many were looked at; exits with 1
when there is a difference or nothing to look at.
"""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import consumers  # noqa: E402

PLACES = ("out_of_place", "in_place")
NUMBERS = (("time", 7), ("alg_bw", 6), ("bus_bw", 6))  # and the width of the column


def is_shown_as(value, read, width):
    """Whether a reader of the table finds `read` where the report has `value`: as many decimals as fit, at most two."""
    decimals = next((n for n in (2, 1, 0) if len(f"{value:.{n}f}") <= width), None)
    if decimals is None:
        return abs(read - value) <= 0.51 * value
    return abs(read - value) <= 0.51 * 10 ** -decimals


class _Comparison:
    def __init__(self):
        self.faults, self.count = [], 0

    def number(self, what, value, read, width=6):
        """One number of the report, and what was read."""
        self.count += 1
        if read is None or not is_shown_as(value, read, width):
            self.faults.append(f"{what}: read {read}, the report has {value}")

    def equal(self, what, wanted, read):
        """Anything else."""
        self.count += 1
        if wanted != read:
            self.faults.append(f"{what}: read {read}, the report has {wanted}")


def _cloudai(text, report, check):
    results = report["results"]
    check.equal("cloudai: success", True, consumers.cloudai_succeeded(text))
    check.equal("cloudai: names of the columns", True, consumers.cloudai_has_columns(text))
    rows = consumers.cloudai_rows(text)
    check.equal("cloudai: rows", len(results), len(rows))
    for row, result in zip(rows, results):
        what = f"cloudai: {result['size']} bytes"
        check.equal(what, [str(result["size"]), str(result["count"]), result["type"], result["redop"], result["root"].strip()],
                    row[:5])
        for first, place in ((5, "out_of_place"), (9, "in_place")):
            for offset, (name, width) in enumerate(NUMBERS):
                check.number(f"{what} {place} {name}", result[place][name], float(row[first + offset]), width)
    # Its grade takes algbw of the second block.
    check.number("cloudai: grade", max(max(r["out_of_place"]["bus_bw"], r["in_place"]["alg_bw"]) for r in results),
                 consumers.cloudai_best(text))
    gpus = [device for device in report["config"]["devices"] if "NVIDIA" in device["device_info"]]
    check.equal("cloudai: ranks with a GPU", len(gpus), consumers.cloudai_devices(text)[2])


def _superbench(text, report, check):
    for place in PLACES:
        read = consumers.superbench(text, place == "in_place")
        check.equal(f"superbench: sizes {place}", sorted({r["size"] for r in report["results"]}), sorted(read))
        for result in report["results"]:
            for at, (name, width) in enumerate(NUMBERS):
                numbers = read.get(result["size"], (None, None, None))
                check.number(f"superbench: {result['size']} bytes {place} {name}", result[place][name], numbers[at], width)


def _awk(text, report, check):
    check.number("awk: last word but one", max(r["in_place"]["bus_bw"] for r in report["results"]),
                 consumers.awsome_health_check(text))
    average = report["average_bus_bandwidth"]["bandwidth"]
    for name, read in (("sixth word", consumers.oci_hpc(text)), ("sixth word, no FAILED", consumers.azure_nhc(text))):
        check.equal(f"awk: average, {name}: lines", 1, len(read))
        # Six digits there, six decimals here.
        near = abs(float(read[0]) - average) <= 0.51e-6 + 1e-5 * average
        check.equal(f"awk: average, {name}", average, average if near else float(read[0]))


def compare(text, report):
    """(faults, how many numbers and texts were looked at) of a run's stdout and its report as text."""
    data, check = json.loads(report), _Comparison()
    if "average_bus_bandwidth" not in data:
        return ["the run was cut off: its table and its report may end at different rows"], 0
    for reader in (_cloudai, _superbench, _awk):
        reader(text, data, check)
    return check.faults, check.count


def main(stdout, report):
    """As the first lines of this file say."""
    faults, count = compare(Path(stdout).read_text(encoding="utf-8"), Path(report).read_text(encoding="utf-8"))
    print("\n".join([*faults, f"{count} readings, {len(faults)} wrong"]))
    return 1 if faults or not count else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
