# SPDX-License-Identifier: Apache-2.0
"""Compares the rows of nccl-bench's stdout with its JSON and its CSV: bench_values.py STDOUT JSON CSV."""
import csv
import json
import sys


def near(text, value, width):
    """Whether stdout's text is the value, as far as its digits go."""
    digits = len(text.partition(".")[2])
    return abs(float(text) - float(value)) <= 0.51 * 10 ** -digits and len(text) <= width


def main(stdout, report, table):
    """Ends with a line for each difference."""
    with open(stdout, encoding="utf-8") as file:
        rows = [line.split() for line in file if line.startswith(" ") and len(line.split()) == 13]
    with open(report, encoding="utf-8") as file:
        whole = json.load(file)
    with open(table, encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    faults = []
    if not len(rows) == len(whole["results"]) == len(lines) or not rows:
        faults.append(f"rows: {len(rows)}, JSON {len(whole['results'])}, CSV {len(lines)}")
    for row, one, line in zip(rows, whole["results"], lines):
        if row[:5] != [str(one["size"]), str(one["count"]), one["type"], one["redop"], one["root"].strip()]:
            faults.append(f"JSON: {row[:5]} is {one}")
        if row[:5] != [line[name] for name in ("size", "count", "type", "redop", "root")]:
            faults.append(f"CSV: {row[:5]} is {line}")
        for at, place, short in ((5, "out_of_place", "oop_"), (9, "in_place", "ip_")):
            for offset, (name, column, width) in enumerate(
                    (("time", "time_us", 7), ("alg_bw", "algbw", 6), ("bus_bw", "busbw", 6), ("nwrong", "wrong", 6))):
                for value in (one[place][name], line[short + column]):
                    if not near(row[at + offset], value, width):
                        faults.append(f"{place} {name}: {row[at + offset]} is {value}")
    if whole["nccl_bench"]["complete"] is not True or any(whole["errors"]):
        faults.append(f"JSON: not complete: {whole['errors']}")
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
