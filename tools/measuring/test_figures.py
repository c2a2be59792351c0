# SPDX-License-Identifier: Apache-2.0
"""The figures: verdicts, the table, and reports that are not what they should be."""
import contextlib
import io
import sys
import unittest
from unittest import mock

from tools.measuring import figures, main


def benchmarks(**changes):
    """A report in which every benchmark takes half of what it may; `changes`: for 8x16."""
    entry = {"cpu_ms": 2.0, "bare_ms": 1.6, "ratio": 1.25, "files": 331.0}
    out = [{"name": f"BM_ReadNode/{name}/manual_time", **entry} for name in figures.CPU_TARGETS]
    out[0].update(changes)
    return {"benchmarks": out}


def process(wall=1.0, peak=5.0):
    """What paired_process prints."""
    costs = {"wall_ms": wall, "cpu_ms": 0.5, "peak_mib": peak}
    return {"pairs": 200, "program": costs, "empty": costs, "difference": costs, "floor_mib": 3.0}


def frame(ratio=16.0):
    """What frame_scale prints."""
    part = {"small_ms": 2.0, "large_ms": 32.0, "ratio": ratio}
    return {"pairs": 20, "small": 1024, "large": 16384, "start": part, "table": part, "peak_mib": 30.0}


class Verdicts(unittest.TestCase):
    """What each figure says of its target."""

    CASES = (  # figure, verdict, whether it is a fault
        (figures.Figure("a", 1.5, "", 1.5, is_ratio=True), "met", False),
        (figures.Figure("a", 1.51, "", 1.5, is_ratio=True), "missed", True),
        (figures.Figure("a", 4.0, "ms", 4.0), "under", False),
        (figures.Figure("a", 400.0, "ms", 4.0), "over", False),
        (figures.Figure("a", 400.0, "ms"), "", False),
    )

    def test_each(self):
        for figure, verdict, missed in self.CASES:
            with self.subTest(figure):
                self.assertEqual((figure.verdict, figure.missed), (verdict, missed))

    def test_table(self):
        found = [figures.Figure("plan", 2.345, "ms", 4.0), figures.Figure("ratio", 1.6, "", 1.5, is_ratio=True), figures.Figure("bare", 1, "ms")]
        self.assertEqual(figures.table(found), [
            "figure  measured  target        verdict",
            "plan    2.35 ms   at most 4 ms  under",
            "ratio   1.60      at most 1.5   missed",
            "bare    1.00 ms",
        ])


class Reports(unittest.TestCase):
    """What the programs print becomes figures, or a message."""

    def test_good(self):
        names = [figure.name for figure in figures.from_benchmarks(benchmarks())]
        self.assertEqual(names[:3], ["8x16: plan, CPU (331 files)", "8x16: bare reading, CPU", "8x16: plan to bare reading"])
        self.assertEqual(len(names), 3 * len(figures.CPU_TARGETS))
        self.assertEqual([f.verdict for f in figures.from_process(process(9.0, 20.0))], ["under", "over", "", "over", ""])

    def test_frame(self):
        for ratio, value, missed in ((16.0, 1.0, []), (32.0, 2.0, ["start", "24 rows with JSON"])):
            found = figures.from_frame(frame(ratio))
            self.assertEqual(found[1].value, value)
            names = [f"frame, {part}: a rank of 16384 to one of 1024" for part in missed]
            self.assertEqual([figure.name for figure in found if figure.missed], names)
        self.assertEqual(found[0].name, "frame, start: CPU, 16384 ranks")
        self.assertEqual(found[-1].verdict, "under")

    BAD = (
        (figures.from_frame, {}, "frame_scale printed no 'small'"),
        (figures.from_frame, {**frame(), "table": {}}, "frame_scale printed no 'large_ms'"),
        (figures.from_benchmarks, {}, "benchmark 8x16 is not in the report"),
        (figures.from_benchmarks, {"benchmarks": benchmarks()["benchmarks"][:2]}, "benchmark 42x256 is not in the report"),
        (figures.from_benchmarks, benchmarks(error_occurred=True, error_message="no tree"), "benchmark 8x16 failed: no tree"),
        (figures.from_benchmarks, benchmarks(error_occurred=True), "benchmark 8x16 failed: no reason given"),
        (figures.from_process, {}, "paired_process printed no 'difference'"),
        (figures.from_process, {"difference": {}, "program": {}, "empty": {}}, "paired_process printed no 'cpu_ms'"),
    )

    def test_bad(self):
        for function, report, message in self.BAD:
            with self.subTest(message), self.assertRaises(ValueError) as raised:
                function(report)
            self.assertEqual(str(raised.exception), message)

    def test_programs_that_fail(self):
        cases = (([sys.executable, "-c", "import sys; sys.exit('no tree')"], "ended with 1: no tree"),
                 ([sys.executable, "-c", "print('text')"], "printed no JSON"))
        for command, message in cases:
            with self.subTest(message), self.assertRaises(ValueError) as raised:
                main.run_json(command)
            self.assertIn(message, str(raised.exception))


class Command(unittest.TestCase):
    """The exit status of tools/perf, with the programs played."""

    def run_with(self, report):
        """Exit status and output."""
        out = io.StringIO()
        with mock.patch.object(main.stages, "bazel", return_value=0), \
                mock.patch.object(main, "run_json", side_effect=[report, process(9.0), frame()]), \
                contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            return main.main(["--quick"]), out.getvalue()

    def test_status(self):
        cases = ((benchmarks(), 0, "under"), (benchmarks(cpu_ms=400.0), 0, "over"), (benchmarks(ratio=1.7), 1, "missed: 8x16: plan"),
                 (benchmarks(error_occurred=True, error_message="x"), 2, "tools/perf: benchmark 8x16 failed: x"))
        for report, status, text in cases:
            with self.subTest(text):
                got, printed = self.run_with(report)
                self.assertEqual(got, status)
                self.assertIn(text, printed)


if __name__ == "__main__":
    unittest.main()
