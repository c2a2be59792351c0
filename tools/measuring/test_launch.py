# SPDX-License-Identifier: Apache-2.0
"""Tests of launch.py and launch_inside.py."""
import os
import unittest

from tools.measuring import launch, launch_inside


def found(plain, default, stays_exec=0, stays_default=6):
    """What launch_inside.py prints when these cost so many seconds more than the floor."""
    base = [0.2, 0.3, 0.25]
    rows = {"srun": base, "floor": [w + 0.03 for w in base], "floor again": [w + 0.031 for w in base],
            "exec": [w + 0.03 + plain for w in base], "default": [w + 0.03 + default for w in base]}
    one = {"rss_kib": 4096, "pss_kib": 1024}
    return {"rows": {name: {"begin": begins, "wall": [b + 0.1 for b in begins]} for name, begins in rows.items()},
            "stays": {"exec": [one] * stays_exec, "default": [one] * stays_default}}


class FromRowsTest(unittest.TestCase):
    """Differences in pairs, and what stays."""

    @staticmethod
    def values(*arguments, **named):
        """Figure by name."""
        return {figure.name: figure for figure in launch.from_rows(found(*arguments, **named), "3 nodes x 2 tasks")}

    def test_differences(self):
        got = self.values(0.005, 0.040)
        for name, expected in (("launch: floor more than that", 30.0), ("launch: the floor once more", 1.0),
                               ("launch: plain exec more than the floor", 5.0), ("launch: default more than the floor", 40.0),
                               ("launch: default more than srun alone", 70.0),
                               ("launch, to the end: srun --mpi=pmix alone", 350.0),
                               ("launch, to the end: default more than the floor", 40.0),
                               ("launch: the largest of them, RSS", 4.0), ("launch: their mean share, Pss", 1.0), ("launch: processes that stay, default", 6)):
            with self.subTest(name):
                self.assertAlmostEqual(got[name].value, expected)
        self.assertFalse(any(figure.missed for figure in got.values()))

    def test_ratios_and_a_process_too_many_are_faults(self):
        for arguments, named, expected in (
                ((0.1, 0.04), {}, ["launch: plain exec to the floor"]),
                ((0.005, 0.2), {}, ["launch: default to the floor"]),
                ((0.005, 0.04), {"stays_exec": 1}, ["launch: processes that stay, plain exec"])):
            with self.subTest(expected):
                missed = [figure.name for figure in self.values(*arguments, **named).values() if figure.missed]
                self.assertEqual(missed, expected)

    def test_no_supervisor_has_no_memory(self):
        self.assertNotIn("launch: the largest of them, RSS", self.values(0.005, 0.04, stays_default=0))

    def test_what_is_no_whole_table(self):
        whole = found(0.005, 0.04)
        for broken in ({}, {"rows": whole["rows"]}, {"stays": whole["stays"]},
                       whole | {"rows": {name: row for name, row in whole["rows"].items() if name != "floor"}},
                       whole | {"rows": {name: {"begin": [], "wall": []} for name in whole["rows"]}},
                       whole | {"stays": {"exec": []}}, whole | {"stays": {"exec": [], "default": [{"rss_kib": 1}]}}):
            with self.assertRaisesRegex(ValueError, "launch_inside.py printed no whole table"):
                launch.from_rows(broken, "")


class InsideTest(unittest.TestCase):
    """What is read of processes."""

    def test_own_process(self):
        with open("/proc/self/comm", encoding="ascii") as file:
            self.assertIn(os.getpid(), launch_inside.processes(file.read().strip()))
        self.assertGreater(launch_inside.kib("/proc/self/status", "VmRSS"), 1000)
        self.assertEqual(launch_inside.processes("no such name"), [])

    def test_every_figure_has_its_variant(self):
        self.assertEqual(set(launch_inside.VARIANTS), set(found(0, 0)["rows"]))
        self.assertEqual(launch_inside.VARIANTS["floor"], launch_inside.VARIANTS["floor again"])


if __name__ == "__main__":
    unittest.main()
