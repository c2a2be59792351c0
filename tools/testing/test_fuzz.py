# SPDX-License-Identifier: Apache-2.0
"""How a fuzzer's output becomes its outcome."""
import glob
import os
import unittest

from tools.testing import fuzz
from tools.testing.cases import FAILED, PASSED

STATS = "INFO: Seed: 1\nDone 1000 runs in 2 second(s)\nstat::number_of_executed_units: 1000\n"
CRASH = "==1==ERROR: AddressSanitizer\nartifact_prefix='w/'; Test unit written to w/crash-12\nBase64: AA==\n"


class JudgeTest(unittest.TestCase):
    """Exit status and output to outcome."""

    def test_good(self):
        outcome = fuzz.judge("json", 0, STATS, 2.0, 1000)
        self.assertEqual((outcome.runs, outcome.problem, outcome.case().outcome), (1000, "", PASSED))
        self.assertIn("500 a second", outcome.line())

    def test_bad(self):
        for status, output, wanted, problem in (
                (77, CRASH, 0, "ended with 77; its input: w/crash-12; see it again: .bazel-cache/fuzz-bin/json_fuzzer w/crash-12"),
                (1, "", 0, "ended with 1"),
                (-9, STATS, 0, "ended with -9"),
                (70, "ALARM\nTest unit written to w/timeout-3\n", 0, "ended with 70; its input: w/timeout-3"),
                (0, STATS, 1001, "made 1000 runs, expected at least 1001"),
                (0, "", 1, "made 0 runs, expected at least 1"),
                (0, "stat::number_of_executed_units: many", 1, "made 0 runs"),
                (None, STATS, 0, "did not end within")):
            outcome = fuzz.judge("json", status, output, 0.0, wanted)
            self.assertTrue(outcome.problem.startswith(problem), outcome.problem)
            self.assertEqual(outcome.case().outcome, FAILED)

    def test_a_second_run_adds_up(self):
        both = fuzz.added(fuzz.judge("a", 0, STATS, 2.0, 0), fuzz.judge("a", 77, CRASH + STATS, 1.0, 0))
        self.assertEqual((both.runs, both.seconds), (2000, 3.0))
        self.assertTrue(both.problem)


class SpreadTest(unittest.TestCase):
    """Which inputs are kept."""

    def test_evenly(self):
        for paths, count, kept in (([], 3, []), ([1], 3, [1]), ([1, 2, 3], 3, [1, 2, 3]), (list(range(9)), 3, [0, 4, 8]),
                                   (list(range(100)), 2, [0, 99])):
            self.assertEqual(fuzz.spread(paths, count), kept)


class TargetsTest(unittest.TestCase):
    """The folder of fuzzers is whole."""

    def test_each_has_a_small_corpus_and_a_rule(self):
        with open(f"{fuzz.FOLDER}/BUILD", encoding="ascii") as file:
            rules = file.read()
        self.assertTrue(fuzz.known())
        for name in fuzz.known():
            self.assertIn(f'fuzz_target(\n    name = "{name}"', rules)
            files = glob.glob(f"{fuzz.FOLDER}/corpus/{name}/*")
            self.assertTrue(files, name)
            self.assertLessEqual(len(files), fuzz.KEPT_FILES + 2, name)
            for path in files:
                self.assertLessEqual(os.path.getsize(path), 8 << 10, path)

    def test_nothing_is_left_over(self):
        for folder, suffix in (("corpus", ""), ("dictionaries", ".dict")):
            for path in glob.glob(f"{fuzz.FOLDER}/{folder}/*"):
                self.assertIn(os.path.basename(path).removesuffix(suffix), fuzz.known(), path)
        self.assertEqual(set(fuzz.LENGTHS) - set(fuzz.known()), set())


if __name__ == "__main__":
    unittest.main()
