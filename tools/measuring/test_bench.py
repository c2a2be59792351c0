# SPDX-License-Identifier: Apache-2.0
"""Tests of bench.py and bench_inside.py."""
import contextlib
import io
import random
import unittest
from unittest import mock

from tools.measuring import bench, bench_inside, main

SIZES = (8, 1024, 65536, 1 << 20, 8 << 20, 32 << 20)
SETTINGS = {bench_inside.INTERFACE: "eth0", "OMPI_MCA_mpi_yield_when_idle": "1"}


def found(**ratios):
    """What bench_inside.py prints when nccl-bench takes `ratios`[size] (as s8) times what the loop does."""
    def rows(factor):
        return {str(size): [[factor(size) * size * noise, factor(size) * size * noise] for noise in (0.99, 1, 1.02)]
                for size in SIZES}

    together = {"nccl-bench": rows(lambda size: ratios.get(f"s{size}", 1)), "loop": rows(lambda _: 1), "loop again": rows(lambda _: 1.001)}
    alone = {"nccl-bench": {"8": [[0.15, 0.13]] * 3}, "loop": {"8": [[0.1, 0.1]] * 3}, "loop again": {"8": [[0.101, 0.101]] * 3}}
    return {"settings": SETTINGS, "repeated": 0, "together": together, "alone": alone}


class FromRowsTest(unittest.TestCase):
    """Ratios of medians, with their bands."""

    @staticmethod
    def values(**ratios):
        """Figure by name."""
        return {figure.name: figure for figure in bench.from_rows(found(**ratios))}

    def test_figures(self):
        got = self.values(s8=1.05)
        for name, expected in (("all_reduce, 8 B: nccl-bench to the loop", 1.05), ("all_reduce, 8 B: the loop to itself", 1.001),
                               ("all_reduce, 32 MiB: the plain loop, median", (32 << 20) / 1000),
                               ("all_reduce, 64 KiB: nccl-bench to the loop", 1), ("one rank, 8 B: the plain loop, median", 100),
                               ("one rank, 8 B: nccl-bench more than the loop", 40), ("one rank, 8 B: the loop more than itself", 1),
                               ("runs done again, as Open MPI crashed in MPI_Init", 0)):
            with self.subTest(name):
                self.assertAlmostEqual(got[name].value, expected)
        self.assertFalse(any(figure.missed for figure in got.values()))
        self.assertEqual(got["all_reduce, 1 MiB: nccl-bench to the loop"].row()[2], "0.98 to 1.02")

    def test_the_interval_holds_the_ratio_and_is_the_same_each_time(self):
        one = self.values()["all_reduce, 8 B: nccl-bench to the loop"]
        self.assertEqual(one, self.values()["all_reduce, 8 B: nccl-bench to the loop"])
        self.assertTrue(one.interval[0] <= one.value <= one.interval[1], one)
        self.assertEqual(bench.interval([(2.0, 1.0)] * 4, random.Random(1)), (2.0, 2.0))
        self.assertTrue(one.row()[1].startswith("1.000 ("), one.row())

    def test_outside_is_a_fault(self):
        for size, text, ratio, missed in ((8, "8 B", 1.09, False), (8, "8 B", 1.11, True), (8, "8 B", 0.89, True),
                                          (65536, "64 KiB", 1.05, False), (1 << 20, "1 MiB", 1.05, True),
                                          (1 << 20, "1 MiB", 1.015, False), (32 << 20, "32 MiB", 0.97, True)):
            with self.subTest(text, ratio=ratio):
                names = [name for name, figure in self.values(**{f"s{size}": ratio}).items() if figure.missed]
                self.assertEqual(names, [f"all_reduce, {text}: nccl-bench to the loop"] if missed else [])

    def test_what_is_no_whole_table(self):
        whole = found()
        together = whole["together"]
        for broken in ({}, {"together": together}, whole | {"alone": {"loop": {}}}, whole | {"together": {"loop": together["loop"]}},
                       whole | {"together": together | {"nccl-bench": {"8": [[1, 1]]}}},
                       whole | {"together": together | {"loop again": {str(size): [[1, 1]] for size in SIZES}}},
                       whole | {"together": together | {"loop": {"8": []}}}):
            with self.subTest(broken), self.assertRaisesRegex(ValueError, "bench_inside.py printed no whole table"):
                bench.from_rows(broken)


class InsideTest(unittest.TestCase):
    """What is read of the programs' output, and what ends the script."""

    TABLE = ("#  Rank  0 Group  0 Pid  25554 on         vm device  0 [0000:00:00] host memory\n"
             "           8             2     float     sum      -1   186.23    0.00    0.00       0   165.54    0.00    0.00       1\n"
             "# Out of bounds values : 0 OK\n")

    def test_rows(self):
        for text, expected in ((self.TABLE, {8: (186.23, 165.54, 1)}), ("8 1.5 2.5 0\n1024 3.5 4.5 2\n", {8: (1.5, 2.5, 0), 1024: (3.5, 4.5, 2)}),
                               ("", {}), ("# 1 2 3\n8 1 2\n8 1 2 3 4\nx 1 2 3\n", {})):
            with self.subTest(text):
                self.assertEqual(bench_inside.rows_in(text), expected)

    def test_settings(self):
        said = "nccl-bench: backend mpi (host memory): --backend\n" + "".join(
            f"nccl-bench: set {name}={value}: why: because\n" for name, value in SETTINGS.items())
        self.assertEqual(bench_inside.settings_in(said), SETTINGS)
        self.assertEqual(bench_inside.settings_in("nccl-bench: set X=1: y\n set OMPI_MCA_x=1: y\n"), {})

    def test_sizes(self):
        self.assertEqual([size for sweep in bench_inside.SWEEPS for size in bench_inside.sizes_of(sweep)], list(SIZES))

    def test_both_get_the_same(self):
        for sweep in (*bench_inside.SWEEPS, bench_inside.ALONE):
            words = bench_inside.by_bench(sweep)
            given = tuple(words[words.index(flag) + 1] for flag in ("-b", "-e", "-f", "-n"))
            self.assertEqual(given, bench_inside.by_loop(sweep)[1:])

    @staticmethod
    def step(*outcomes):
        """One step of a cluster on which srun ends so: status, output."""
        runs = iter(outcomes)

        def run(command, **_):
            if command[0] == "pidof":
                return mock.Mock(returncode=1)
            status, text = next(runs)
            return mock.Mock(returncode=status, stdout=text, stderr="")

        cluster = bench_inside.Cluster(3)
        with mock.patch.object(bench_inside.subprocess, "run", side_effect=run):
            return cluster.measure("loop", (8, 8, 2, 1), 3), cluster.repeated

    def test_a_crash_of_open_mpi_is_done_again(self):
        crash = (139, f"srun: error: server3: task 2: {bench_inside.CRASH}")
        self.assertEqual(self.step(crash, crash, (0, "8 1.5 2.5 0")), ({8: (1.5, 2.5)}, 2))
        with self.assertRaisesRegex(SystemExit, "ended with 139"):
            self.step(*[crash] * bench_inside.TRIES)

    def test_what_ends_the_script(self):
        for status, text, expected in ((1, "no", "ended with 1: no"), (0, "", "printed not the sizes"), (0, "16 1 1 0", "printed not the sizes"),
                                       (0, "8 1.5 2.5 1", "has wrong sums"), (7, "8 1.5 2.5 0", "ended with 7")):
            with self.subTest(text), self.assertRaisesRegex(SystemExit, "bench_inside.py: .*" + expected):
                self.step((status, text))


class CommandTest(unittest.TestCase):
    """The words of tools/perf."""

    def test_pairs(self):
        self.assertEqual(main.parse(["--bench", "--pairs", "40"]).pairs, 40)
        self.assertIsNone(main.parse(["--bench"]).pairs)
        for words in (["--bench", "--pairs", "0"], ["--bench", "--pairs", "x"], ["--bench", "--pairs"], ["--pairs", "3"],
                      ["--steps", "--pairs", "3"], ["--bench", "--launch"]):
            said = io.StringIO()
            with self.subTest(words), contextlib.redirect_stderr(said), self.assertRaises(SystemExit) as raised:
                main.parse(words)
            self.assertEqual(raised.exception.code, 2)

    def test_settings_are_printed(self):
        out = io.StringIO()
        with mock.patch.object(bench.on_cluster, "measure", return_value=found()), contextlib.redirect_stdout(out):
            bench.measure(None, 30)
        self.assertIn("both with OMPI_MCA_btl_tcp_if_include=eth0\n", out.getvalue())
        self.assertIn("30 pairs", out.getvalue())


if __name__ == "__main__":
    unittest.main()
