# SPDX-License-Identifier: Apache-2.0
"""compare.py from end to end with programs that print fixed tables: what is made, kept, gone on with, and judged."""
import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import compare
from comparing import adaptive, flag_sets, pairs, runs, timing
from comparing.runs import OURS, THEIRS
from gpu_samples import BOTH_REPORT
from gpu_samples import OURS as OUR_TABLE
from gpu_samples import THEIRS as THEIR_TABLE

SPREAD = {"results": [{"size": 8, "out_of_place": {"time": 5.0}, "in_place": {"time": 1.0}}],
          "nccl_bench": {"spread": [{"size": 8, "out_of_place": {"samples": 30}, "in_place": {"samples": 60}}]}}


def stub(path, table, status=0, report=""):
    """A program that prints the table, writes the report, and counts its starts in a file beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Path(f"{path}.table").write_text(table, encoding="utf-8")
    Path(f"{path}.report").write_text(report, encoding="utf-8")
    path.write_text('#!/bin/sh\nself=$(readlink -f "$0")\necho "$@" >>"$self.starts"\ncat "$self.table"\n'
                    'if [ -s "$self.report" ]; then cp "$self.report" report.json; fi\n'
                    f'echo "$NCCL_TESTS_MIN_BW$NCCL_DEBUG" >&2\nexit {status}\n', encoding="utf-8")
    path.chmod(0o755)


def starts(path):
    """How often a stub was started."""
    return len(Path(f"{path}.starts").read_text(encoding="utf-8").splitlines())


class Stubs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top, self.out, self.said = Path(folder.name), Path(folder.name) / "out", []
        self.out.mkdir()
        self.ours, tests = self.top / "bin/nccl-bench", self.top / "nccl-tests"
        self.theirs = tests / "build/all_reduce_perf"
        self.machine = runs.Machine(self.ours, tests / "build", tests / "build_mpi", self.top / "libnccl.so.2")
        stub(self.ours, OUR_TABLE)
        stub(self.theirs, THEIR_TABLE)

    def make(self, *chosen, **more):
        """What pairs.make returns."""
        return pairs.make(self.machine, chosen, self.out, more.pop("seconds", 60), say=self.said.append, **more)


ONE = flag_sets.FlagSet("no-check", "all_reduce", "-b 1K")


class Pairs(Stubs):
    def test_same(self):
        self.assertTrue(self.make(ONE))
        self.assertEqual(pairs.read_index(self.out), ["no-check"])
        self.assertEqual(pairs.replay(self.out, "no-check"), [])
        self.assertIn("no-check: the same", self.said)

    def test_goes_on(self):
        self.make(ONE)
        self.assertTrue(self.make(ONE))
        self.assertEqual((starts(self.ours), starts(self.theirs)), (1, 1))
        self.assertTrue(self.make(ONE, again=True))
        self.assertEqual(starts(self.ours), 2)

    def test_different(self):
        stub(self.ours, OUR_TABLE.replace("1024           256", "1024           255"))
        self.assertFalse(self.make(ONE))
        self.assertIn("no-check: DIFFERENT", self.said)
        self.assertTrue(any("255" in line for line in self.said))

    def test_status(self):
        stub(self.ours, OUR_TABLE, status=7)
        self.assertFalse(self.make(ONE))
        self.assertIn("    exit status of ours: 7, expected 0", self.said)

    def test_time_over(self):
        self.assertFalse(self.make(ONE, seconds=0))
        self.assertIn("not run yet: no-check", self.said[-1])

    def test_missing(self):
        self.assertFalse(self.make(flag_sets.FlagSet("broadcast", "broadcast", "-b 8")))
        self.assertIn("is not built: run tests/gpu/nccl_tests.sh", self.said[0])

    def test_report_and_environment(self):
        stub(self.ours, OUR_TABLE, report=BOTH_REPORT)
        stub(self.theirs, THEIR_TABLE, report=BOTH_REPORT)
        asked = flag_sets.FlagSet("json", "all_reduce", f"-J {flag_sets.REPORT_FILE}", environment=(("NCCL_TESTS_MIN_BW", "5"),))
        with mock.patch.dict("os.environ", {"NCCL_DEBUG": "INFO", "NCCL_TESTS_MIN_BW": "1"}):
            self.assertTrue(self.make(asked))
        self.assertEqual(pairs.kept(self.out, "json", THEIRS).stderr, "5\n")
        self.assertNotIn("SECRET", (self.out / "json.theirs.json").read_text(encoding="utf-8"))


class Times(Stubs):
    def measure(self, least=3, seconds=60, context=None):
        """What timing.measure returns."""
        return timing.measure(self.machine, ["all_reduce"], 1, least, self.out, seconds, context or {"nccl": 1}, self.said.append)

    def test_goes_on_and_judges(self):
        self.assertFalse(self.measure(seconds=0))
        self.assertIn("0 of 3 rounds; time is over", self.said[-1])
        self.measure(least=2)
        self.measure(least=3)
        self.assertEqual((starts(self.ours), starts(self.theirs)), (3, 6))
        report = json.loads((self.out / "time-1-all_reduce.json").read_text(encoding="utf-8"))
        self.assertEqual(report["rounds"], 3)
        # The first row's 123.45 us against 120.00 are not within 2 %.
        self.assertEqual([one["holds"] for one in report["figures"]], [False, True, True, True])

    def test_other_settings(self):
        self.measure(least=1)
        with self.assertRaisesRegex(ValueError, "was made with"):
            self.measure(context={"nccl": 2})

    def test_wrong_data(self):
        stub(self.ours, OUR_TABLE.replace(": 0 OK", ": 3 FAILED"))
        with self.assertRaisesRegex(ValueError, "all_reduce, ours: exit status 0, data not right"):
            self.measure()

    def test_other_rows(self):
        stub(self.ours, OUR_TABLE.replace("        2048 ", "        4096 "))
        with self.assertRaisesRegex(ValueError, "other rows"):
            self.measure()


class AdaptiveRuns(Stubs):
    def measure(self, seconds=60):
        """What adaptive.measure returns."""
        return adaptive.measure(self.machine, ["all_reduce"], self.out, seconds, {"nccl": 1}, self.said.append)

    def test_measures_and_keeps(self):
        stub(self.ours, OUR_TABLE, report=json.dumps(SPREAD))
        self.assertFalse(self.measure(seconds=0))
        self.assertTrue(self.measure())
        self.assertEqual((starts(self.ours), starts(self.theirs)), (adaptive.REPEATS, adaptive.REPEATS))
        self.assertIn("as sure at -n 20:", self.said[-1])
        self.assertTrue(self.measure())
        self.assertEqual(starts(self.ours), adaptive.REPEATS)

    def test_no_spread(self):
        stub(self.ours, OUR_TABLE, report=BOTH_REPORT)
        with self.assertRaisesRegex(ValueError, "the report has no"):
            self.measure()


class Words(unittest.TestCase):
    def test_chosen(self):
        self.assertEqual([one.name for one in compare.chosen_sets(["memory", "split-m*"])],
                         ["memory", "split-mod-2", "split-mask-2"])
        self.assertEqual(len(compare.chosen_sets([])), len(flag_sets.all_sets()))
        with self.assertRaisesRegex(ValueError, 'no flag set is called "nothing"'):
            compare.chosen_sets(["memory", "nothing"])
        self.assertEqual(compare.chosen_collectives([]), timing.COLLECTIVES)
        with self.assertRaisesRegex(ValueError, 'unknown collective: got "x"'):
            compare.chosen_collectives(["x"])

    def test_statuses(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as said:
            self.assertEqual(compare.main(["list"]), 0)
            self.assertEqual(compare.main(["replay", "--out", folder]), 1)
        self.assertIn("0 pairs", said.getvalue())
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(compare.main(["time", "x"]), 2)
        self.assertIn("unknown collective", said.getvalue())


if __name__ == "__main__":
    unittest.main()
