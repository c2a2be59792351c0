# SPDX-License-Identifier: Apache-2.0
"""The pairs of outputs that compare.py has kept on a GPU machine, compared again; and that a spoilt pair fails."""
import tempfile
import unittest
from pathlib import Path

from comparing import flag_sets, pairs, runs
from comparing.runs import OURS, THEIRS
from gpu_samples import OURS as OUR_TABLE
from gpu_samples import THEIRS as THEIR_TABLE
from gpu_samples import BOTH_REPORT

KEPT = Path(__file__).resolve().parent / "logs/compare"
LEAST = 25  # pairs, once there are any


class Replay(unittest.TestCase):
    def test_kept_pairs(self):
        for name in pairs.read_index(KEPT):
            with self.subTest(name):
                self.assertEqual(pairs.replay(KEPT, name), [])

    def test_enough(self):
        if (KEPT / pairs.INDEX).exists():
            self.assertGreaterEqual(len(pairs.read_index(KEPT)), LEAST)

    def test_index_lists_all(self):
        for side in (OURS, THEIRS):
            there = {path.name.rpartition(".")[0] for path in KEPT.glob(f"*.{side}")}
            self.assertEqual(there, set(pairs.read_index(KEPT)))

    def test_spoilt(self):
        """A number that is not measured, in our half of a kept pair, is seen."""
        for name in pairs.read_index(KEPT):
            ours, theirs = (pairs.kept(KEPT, name, side) for side in (OURS, THEIRS))
            flag_set = pairs.known()[name]
            if flag_set.stdout_may_differ or "# nThread " not in ours.stdout:
                continue
            with self.subTest(name):
                ours.stdout = ours.stdout.replace("# nThread ", "# nThread 1", 1)
                self.assertNotEqual(pairs.faults(flag_set, ours, theirs), [])


def pair(status=(0, 0)):
    """Ours and theirs that are as they should be."""
    return (runs.Run("all_reduce_perf -b 1K", {}, status[0], OUR_TABLE, "nccl-bench: a word\n"),
            runs.Run("all_reduce_perf -b 1K", {"A": "b=c"}, status[1], THEIR_TABLE))


class Faults(unittest.TestCase):
    def setUp(self):
        self.set = flag_sets.FlagSet("x", "all_reduce", "-b 1K")

    def test_right(self):
        self.assertEqual(pairs.faults(self.set, *pair()), [])

    def test_status(self):
        self.assertEqual(pairs.faults(self.set, *pair((7, 0))), ["exit status of ours: 7, expected 0"])
        self.assertEqual(pairs.faults(self.set, *pair((0, 124))), ["exit status of theirs: 124, expected 0"])

    def test_refused(self):
        refused = flag_sets.FlagSet("x", "all_reduce", "--bogus", status=(6, 0), stdout_may_differ="reason")
        ours, theirs = runs.Run("", {}, 6, "", ""), runs.Run("", {}, 0, "USAGE\n", "")
        self.assertEqual(pairs.faults(refused, ours, theirs), ["ours refuses and says nothing on stderr"])
        ours.stderr = "nccl-bench: unknown flag\n"
        self.assertEqual(pairs.faults(refused, ours, theirs), [])

    def test_report(self):
        with_report = flag_sets.FlagSet("x", "all_reduce", f"-J {flag_sets.REPORT_FILE}")
        ours, theirs = pair()
        self.assertEqual(pairs.faults(with_report, ours, theirs), ["report: written by neither"])
        ours.report = BOTH_REPORT
        self.assertEqual(pairs.faults(with_report, ours, theirs), ["report: written by ours"])
        theirs.report = BOTH_REPORT
        self.assertEqual(pairs.faults(with_report, ours, theirs), [])
        ours.report = BOTH_REPORT[:40]
        self.assertIn("no JSON", pairs.faults(with_report, ours, theirs)[0])


class Keeping(unittest.TestCase):
    def test_there_and_back(self):
        for text in ("", "\n", "stderr: 5 characters\n", "a\r\nb\n\n", "half a row", "\u00b5s \ufffd\n"):
            with self.subTest(repr(text)), tempfile.TemporaryDirectory() as folder:
                variables = {"A": "1", "B": "x=y", "C": "MOD 2'", "D": ""}
                before = runs.Run("all_reduce_perf -b 8", variables, 3, text, text, BOTH_REPORT, 1.5)
                pairs.keep(folder, "x", OURS, before)
                after = pairs.kept(folder, "x", OURS)
                self.assertEqual((after.command, after.environment, after.status, after.stdout, after.stderr, after.seconds),
                                 (before.command, before.environment, 3, text, text, 1.5))
                self.assertNotIn("SECRET", after.report)

    def test_a_report_of_before_goes(self):
        with tempfile.TemporaryDirectory() as folder:
            pairs.keep(folder, "x", OURS, runs.Run("a", {}, 0, "", report=BOTH_REPORT))
            pairs.keep(folder, "x", OURS, runs.Run("a", {}, 0, ""))
            self.assertEqual(pairs.kept(folder, "x", OURS).report, "")

    def test_broken(self):
        good = runs.Run("a", {}, 0, "out\n", "err\n").text()
        for text, said in (("", "does not begin"), (good.replace("status: 0", "status: x"), "does not begin"),
                           (good.replace("stdout: 4", "stdout: 2"), "not 2 characters"),
                           (good.replace("stdout: 4", "stdout: 400"), "not 400 characters"),
                           (good.replace("stderr: 4 characters", "stderr"), "no line \"stderr"), (good + "x", "goes on"),
                           (good[:-1], "not 4 characters")):
            with self.subTest(said), self.assertRaisesRegex(ValueError, said):
                runs.from_text(text)

    def test_index(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(pairs.read_index(folder), [])
            for name, sides in (("all_reduce", (OURS, THEIRS)), ("broadcast", (OURS,))):
                for side in sides:
                    pairs.keep(folder, name, side, pair()[side == THEIRS])
            self.assertEqual(pairs.write_index(folder), ["all_reduce"])
            self.assertEqual(pairs.read_index(folder), ["all_reduce"])
            self.assertEqual(pairs.replay(folder, "all_reduce"), [])
            self.assertIn("No such file", pairs.replay(folder, "broadcast")[0])
            self.assertEqual(pairs.replay(folder, "other"), ["no flag set has the name other"])


class Scrubbing(unittest.TestCase):
    def test_host_and_folder(self):
        self.assertEqual(runs.scrubbed("on       node1 device /w/d/x\n", "node1", "/w/d"), "on       hhhhh device x\n")
        self.assertEqual(runs.scrubbed("node1.site.org node1 node12 my-node1", "node1.site.org", "/w"),
                         "hhhhh.hhhhhhhh hhhhh node12 my-node1")
        self.assertEqual(runs.scrubbed("as it is", "", "/w"), "as it is")


class FlagSets(unittest.TestCase):
    def test_table(self):
        sets = flag_sets.all_sets()
        self.assertEqual(len(sets), len({one.name for one in sets}), "names are told apart")
        self.assertGreaterEqual(len(sets), 30)
        for one in sets:
            self.assertIn(one.collective, flag_sets.COLLECTIVES)
            self.assertNotIn("/", one.name)
        for ranks in (1, 2):
            self.assertEqual({one.collective for one in sets if one.ranks == ranks}, set(flag_sets.COLLECTIVES))

    def test_every_flag(self):
        words = {word for one in flag_sets.all_sets() for word in one.flags.split()}
        for flag in "tgbeifnmwNpcodrzyTGCSJaRxDVMuIK":
            if flag not in "tf":  # more threads need more GPUs
                self.assertIn(f"-{flag}", words)

    def test_differences_have_reasons(self):
        for one in flag_sets.all_sets():
            if one.stdout_may_differ:
                self.assertGreater(len(one.stdout_may_differ), 20)


if __name__ == "__main__":
    unittest.main()
