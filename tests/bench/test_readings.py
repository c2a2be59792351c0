# SPDX-License-Identifier: Apache-2.0
"""Real runs on a GPU, kept, and the sample: three kinds of readers find the numbers of the run's JSON in its stdout."""

import json
import re
import sys
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
KEPT = FOLDER.parent / "gpu/logs/compare"
sys.path.insert(0, str(FOLDER))

import consumers  # noqa: E402
import readings  # noqa: E402


def stdout_of(name, side="ours"):
    """stdout of a run that was kept on a GPU machine."""
    text = (KEPT / f"{name}.{side}").read_text(encoding="utf-8")
    return re.search(r"^stdout: \d+ characters\n(.*)\nstderr: ", text, re.DOTALL | re.MULTILINE)[1]


def report_of(name, side="ours"):
    return (KEPT / f"{name}.{side}.json").read_text(encoding="utf-8")


def sample(name):
    return (FOLDER / "samples" / name).read_text(encoding="utf-8")


# Kept with nccl-tests' own columns; the other pairs have -S, -I or -C.
PLAIN = [f"{collective}{ranks}" for ranks in ("", "-2")
         for collective in ("all_reduce", "all_gather", "broadcast", "reduce_scatter", "reduce", "alltoall", "alltoallv",
                            "scatter", "gather", "sendrecv")]


class Readings(unittest.TestCase):
    def test_kept_runs_with_a_report(self):
        for name in ("json", "json-2"):
            for side in ("ours", "theirs"):
                faults, count = readings.compare(stdout_of(name, side), report_of(name, side))
                self.assertEqual(faults, [], f"{name}.{side}")
                self.assertGreaterEqual(count, 20, f"{name}.{side}")

    def test_kept_runs_of_all_collectives(self):
        """Without a report: the three agree with each other, and see every rank."""
        for name in PLAIN:
            text = stdout_of(name)
            rows = consumers.cloudai_rows(text)
            self.assertEqual(len(rows), 5 if name in PLAIN[:10] else 3, name)
            for first, in_place in ((5, False), (9, True)):
                self.assertEqual(consumers.superbench(text, in_place),
                                 {int(row[0]): tuple(map(float, row[first:first + 3])) for row in rows}, name)
            self.assertEqual(consumers.awsome_health_check(text), max(float(row[11]) for row in rows), name)
            self.assertEqual(consumers.cloudai_devices(text)[1:], ("H200", 2 if name.endswith("-2") else 1), name)
            self.assertTrue(consumers.cloudai_succeeded(text), name)

    def test_the_sample(self):
        self.assertEqual(readings.compare(sample("all_reduce.txt"), sample("all_reduce.json"))[0], [])

    def test_a_wrong_number_is_seen(self):
        for old, new, said in (("134.02", "134.04", "cloudai: 8388608 bytes out_of_place bus_bw: read 134.04"),
                               ("134.02", "134.04", "superbench: 8388608 bytes out_of_place bus_bw: read 134.04"),
                               ("135.47", "135.49", "awk: last word but one: read 135.49"),
                               ("bandwidth    : 33", "bandwidth    : 34", "awk: average, sixth word: read 34.71"),
                               (" 12.62", " 12.64", "superbench: 262144 bytes out_of_place time"),
                               (" sum ", " max ", "cloudai: 8 bytes"), ("NVIDIA", "GPU", "cloudai: ranks with a GPU: read 0"),
                               ("# Collective test starting", "# Test failure", "cloudai: success: read False")):
            text = sample("all_reduce.txt")
            self.assertIn(old, text)
            faults = readings.compare(text.replace(old, new), sample("all_reduce.json"))[0]
            self.assertTrue(any(said in fault for fault in faults), (said, faults))

    def test_a_row_too_few_is_seen(self):
        text = re.sub(r"\n +8192 .*", "", sample("all_reduce.txt"))
        faults = readings.compare(text, sample("all_reduce.json"))[0]
        self.assertIn("cloudai: rows: read 4, the report has 5", faults)
        self.assertIn("superbench: sizes out_of_place: read [8, 256, 262144, 8388608], "
                      "the report has [8, 256, 8192, 262144, 8388608]", faults)

    def test_a_run_that_was_cut_off_is_told(self):
        report = json.loads(sample("all_reduce.json"))
        del report["average_bus_bandwidth"], report["results"][-1]["in_place"]
        faults, count = readings.compare(sample("all_reduce.txt"), json.dumps(report))
        self.assertEqual((len(faults), count), (1, 0))
        self.assertIn("cut off", faults[0])

    def test_widths(self):
        for value, read, width, right in ((123456.789, 123457.0, 7, True), (123456.789, 123456.79, 7, True),
                                          (1234.567, 1234.57, 7, True), (1234.567, 1234.59, 7, False),
                                          (12345.67, 12345.7, 7, True), (12345.67, 12346.0, 7, False), (0.004, 0.0, 6, True),
                                          (0.006, 0.0, 6, False), (12345678.0, 1.2e7, 7, True), (0.0, 0.0, 6, True)):
            self.assertEqual(readings.is_shown_as(value, read, width), right, (value, read))


if __name__ == "__main__":
    unittest.main()
