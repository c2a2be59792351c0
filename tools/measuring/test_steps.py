# SPDX-License-Identifier: Apache-2.0
"""Tests of steps.py."""
import unittest

from tools.measuring import steps


def rows(on):
    """A table in which tuning costs `on` seconds of wall time."""
    plain = {"wall": [0.2, 0.3, 0.25], "srun": [0.01, 0.02, 0.01], "node": [0.02, 0.03, 0.02]}
    tuned = {"wall": [w + on for w in plain["wall"]], "srun": [s + 0.001 for s in plain["srun"]], "node": [0.03, 0.03, 0.025]}
    return {"empty": plain, "empty again": plain, "not asked": plain, "off": plain, "on": tuned}


class FromRowsTest(unittest.TestCase):
    """Differences in pairs."""

    def values(self, on):
        """Figure by name."""
        return {figure.name: figure for figure in steps.from_rows(rows(on), "3 nodes x 2 tasks")}

    def test_differences(self):
        found = self.values(0.010)
        self.assertAlmostEqual(found["step: wall more when tuned"].value, 10.0)
        self.assertAlmostEqual(found["step: wall more when off"].value, 0.0)
        self.assertAlmostEqual(found["step: wall, the same once more"].value, 0.0)
        self.assertAlmostEqual(found["step: CPU more of srun"].value, 1.0)
        self.assertAlmostEqual(found["step: CPU more of a node's slurmstepd"].value, 5.0)
        self.assertFalse(any(figure.missed for figure in found.values()))

    def test_only_the_ratio_is_a_fault(self):
        missed = [figure.name for figure in self.values(0.1).values() if figure.missed]
        self.assertEqual(missed, ["step: tuned to without the plugin"])

    def test_what_is_missing_is_said(self):
        for table in ({}, {"empty": {}}, {"empty": {"wall": []}, "on": {"wall": []}}):
            with self.assertRaisesRegex(ValueError, "no whole table"):
                steps.from_rows(table, "")


if __name__ == "__main__":
    unittest.main()
