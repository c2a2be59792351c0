# SPDX-License-Identifier: Apache-2.0
"""Tests of torch_start.py and torch_inside.py."""
import sys
import unittest

from tools.measuring import torch_inside, torch_start


def rows(launcher, torchrun, again=None):
    """What torch_inside.py prints."""
    return {"nccl-launch": launcher, "nccl-launch again": again or launcher, "torchrun": torchrun}


class FromRowsTest(unittest.TestCase):
    """Only rounds that are whole on both sides count."""

    @staticmethod
    def values(*arguments):
        """Figure by name."""
        return {figure.name: figure for figure in torch_start.from_rows(rows(*arguments), "3 nodes x 2 ranks")}

    def test_ratio(self):
        got = self.values([3.0, None, 4.0, 5.0], [6.0, 1.0, 8.0, None], [3.0, 3.0, None, 10.0])
        self.assertEqual(got["first collective: nccl-launch to torchrun"].value, 0.5)
        self.assertEqual(got["first collective: nccl-launch to itself"].value, 1.5)
        self.assertEqual(got["first collective: pairs counted, of 4"].value, 2)
        self.assertEqual(got["first collective: not whole by nccl-launch"].value, 1)
        self.assertEqual(got["first collective: not whole by torchrun"].value, 1)
        self.assertEqual(got["first collective: by torchrun"].value, 7000)
        self.assertFalse(any(figure.missed for figure in got.values()))

    def test_ratio_is_a_fault(self):
        missed = [figure.name for figure in self.values([5.0], [6.0]).values() if figure.missed]
        self.assertEqual(missed, ["first collective: nccl-launch to torchrun"])

    def test_nothing_to_count(self):
        for launcher, torchrun in (([None, 3.0], [5.0, None]), ([], []), ([None], [None])):
            with self.assertRaisesRegex(ValueError, "in no round did every rank"):
                torch_start.from_rows(rows(launcher, torchrun), "")
        with self.assertRaisesRegex(ValueError, "printed no whole table"):
            torch_start.from_rows({"nccl-launch": [1.0]}, "")


class InsideTest(unittest.TestCase):
    """What counts as a whole run."""

    @staticmethod
    def seconds(said):
        """Of a program that prints this, with two ranks."""
        return torch_inside.seconds_to_first((sys.executable, "-c", f"print({said!r})"), 2)

    def test_whole(self):
        self.assertIsNotNone(self.seconds("first: rank 0 5.000000\n[default1]:first: rank 1 6.000000"))

    def test_not_whole(self):
        for said in ("", "first: rank 0 5.0", "first: rank 0 5.0\nfirst: rank 0 6.0", "first: rank 0 5.0\nfirst: rank 2 6.0",
                     "first: rank 0 5.0\nfirst: rank 1 5.0\nfirst: rank 2 6.0", "first: rank 0 5.0 first: rank 1 x"):
            with self.subTest(said):
                self.assertIsNone(self.seconds(said))


if __name__ == "__main__":
    unittest.main()
