# SPDX-License-Identifier: Apache-2.0
"""How times are judged: rows, whole sweeps, and what --adaptive costs."""
import json
import tempfile
import unittest
from pathlib import Path

from comparing import adaptive, runs, spread, timing
from gpu_samples import OURS, THEIRS


def rounds(ours, theirs, again, count=15):
    """Rounds of one block with a little noise."""
    out = []
    for i in range(count):
        noise = 1 + 0.001 * ((i * 7) % 5 - 2)
        out.append({runs.OURS: {"0 8 out": ours * noise}, runs.THEIRS: {"0 8 out": theirs * noise},
                    timing.AGAIN: {"0 8 out": again * noise}})
    return out


class Judging(unittest.TestCase):
    def test_rows(self):
        cases = ((100, 100, True), (101.9, 100, True), (102.1, 100, False), (97.9, 100, False), (98.1, 100, True),
                 (10.29, 10, True), (10.31, 10, False), (9.69, 10, False), (50.3, 50.0, True), (49.6, 50.0, False),
                 (50.9, 50.1, True), (0.0, 0.25, True))
        for ours, theirs, holds in cases:
            with self.subTest(f"{ours} {theirs}"):
                found = timing.judge_rows(rounds(ours, theirs, theirs))[0]
                self.assertEqual(found.holds, holds, found)
                self.assertEqual(found.what, "8 out")
                self.assertAlmostEqual(found.again, 1.0)

    def test_sweep(self):
        for ours, holds in ((100, True), (104.9, True), (105.1, False), (94.9, False), (95.1, True)):
            self.assertEqual(timing.judge_sweep(rounds(ours, 100, 101)).holds, holds, ours)

    def test_interval(self):
        found = timing.judge_rows(rounds(101, 100, 100))[0]
        self.assertLessEqual(found.low, found.ratio)
        self.assertGreaterEqual(found.high, found.ratio)
        self.assertEqual(found, timing.judge_rows(rounds(101, 100, 100))[0], "the same rounds, the same figures")

    def test_order(self):
        orders = {tuple(timing.order_of(number)) for number in range(30)}
        self.assertEqual(len(orders), 6)
        self.assertEqual(timing.order_of(3), timing.order_of(3))

    def test_table(self):
        lines = timing.table(timing.judge_rows(rounds(120, 100, 101)))
        self.assertIn("MISSED", lines[1])
        self.assertIn("1.200", lines[1])


class Reading(unittest.TestCase):
    def test_values(self):
        self.assertEqual(timing.values_of(OURS), {"0 1024 out": 123.45, "0 1024 in": 5.5, "1 2048 out": 1234.5, "1 2048 in": 5.6})

    def test_right(self):
        self.assertTrue(timing.all_right(runs.Run("", {}, 0, THEIRS)))
        self.assertFalse(timing.all_right(runs.Run("", {}, 1, THEIRS)))
        self.assertFalse(timing.all_right(runs.Run("", {}, 0, THEIRS.replace(": 0 OK", ": 2 FAILED"))))
        self.assertFalse(timing.all_right(runs.Run("", {}, 0, "")))

    def test_kept_rounds(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x.rounds"
            self.assertEqual(timing.load(path, {"a": 1}), [])
            path.write_text(json.dumps({"context": {"a": 1}}) + "\n" + json.dumps({"ours": {}}) + "\n", encoding="utf-8")
            self.assertEqual(timing.load(path, {"a": 1}), [{"ours": {}}])
            with self.assertRaisesRegex(ValueError, "was made with"):
                timing.load(path, {"a": 2})


class Spreads(unittest.TestCase):
    def test_relative(self):
        self.assertEqual(spread.relative_spread([10, 10, 10, 10, 10]), 0)
        self.assertAlmostEqual(spread.relative_spread([9, 10, 11, 10, 1000]), 0.05)

    def test_loop(self):
        loop = adaptive.loop_of(20, [{"a": (us, 20), "b": (100, 20)} for us in (10, 12, 11)])
        self.assertAlmostEqual(loop.seconds, 20 * 111e-6)
        self.assertAlmostEqual(loop.spread, (0.5 / 11 + 0) / 2)

    def test_matching(self):
        def loops(*spreads):
            return [adaptive.Loop(20 * 2**i, 1.0 * 2**i, value) for i, value in enumerate(spreads)]

        for spreads, wanted, count, seconds, reached in (
                ((0.01,), 0.02, 20, 1, True), ((0.04, 0.01), 0.02, 28, 2**0.5, True), ((0.04, 0.02), 0.02, 40, 2, True),
                ((0.04, 0.03, 0.025), 0.02, 80, 4, False), ((0.04, 0.0), 0.02, 40, 2, True), ((0.04, 0.0), 0.0, 40, 2, True)):
            with self.subTest(spreads):
                found = adaptive.matching(loops(*spreads), wanted)
                self.assertEqual((found[0], found[2]), (count, reached))
                self.assertAlmostEqual(found[1], seconds, places=3)

    def test_our_blocks(self):
        report = {"results": [{"size": 8, "out_of_place": {"time": 5.0}, "in_place": {"time": 1.0}}],
                  "nccl_bench": {"spread": [{"size": 8, "out_of_place": {"samples": 30}, "in_place": {"samples": 60}}]}}
        self.assertEqual(adaptive.our_blocks(report), {"0 8 out_of_place": (5.0, 30), "0 8 in_place": (1.0, 60)})
        for broken in ({}, {"results": []}, report | {"nccl_bench": {}}, report | {"nccl_bench": {"spread": []}},
                       report | {"results": [{}]}):
            with self.subTest(str(broken)), self.assertRaises(ValueError):
                adaptive.our_blocks(broken)


if __name__ == "__main__":
    unittest.main()
