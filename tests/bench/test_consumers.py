# SPDX-License-Identifier: Apache-2.0
"""nccl-bench's output as the programs around nccl-tests read it (consumers.py), and that each rule can fail.

The samples are what nccl-bench's own code makes of made-up results (samples.cc; samples_test holds them to it).
"""

import csv
import io
import json
import sys
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

import consumers  # noqa: E402

# Of the plain samples: size, then time, algbw and busbw out of place and in place.
ROWS = [(8, 10.00, 0.00, 0.00, 9.00, 0.00, 0.00),
        (256, 10.00, 0.03, 0.04, 9.00, 0.03, 0.04),
        (8192, 10.08, 0.81, 1.22, 9.08, 0.90, 1.35),
        (262144, 12.62, 20.77, 31.15, 11.62, 22.56, 33.84),
        (8388608, 93.89, 89.35, 134.02, 92.89, 90.31, 135.47)]
AVERAGE = 33.7135
HOSTS = ["gpu-node-02", "server1"]


def sample(name):
    return (FOLDER / "samples" / name).read_text(encoding="utf-8")


def spoilt(name, old, new, count=-1):
    """A sample with something else in it, which must be there."""
    text = sample(name)
    if old not in text:
        raise ValueError(f"{name} has no {old!r}")
    return text.replace(old, new, count)


def after_own_line(line, name="all_reduce.txt"):
    """A sample with one more line behind ours."""
    return spoilt(name, "# Collective test starting", line + "\n# Collective test starting")


BUSBW = [(row[0], row[3], row[6]) for row in ROWS]


class CloudAi(unittest.TestCase):
    def test_rows(self):
        rows = consumers.cloudai_rows(sample("all_reduce.txt"))
        self.assertEqual([(int(r[0]), *map(float, r[5:8]), *map(float, r[9:12])) for r in rows], ROWS)
        self.assertEqual({(r[2], r[3], r[4], r[8], r[12]) for r in rows}, {("float", "sum", "-1", "0", "0")})
        for name in ("alltoall.txt", "cpu_time.txt", "host_memory.txt", "other_types.txt", "slow.txt", "unchecked.txt"):
            self.assertEqual(len(consumers.cloudai_rows(sample(name))), 5, name)

    def test_rows_that_it_does_not_see_of_nccl_tests_either(self):
        for name in ("hypercube.txt", "iterations.txt", "timestamps.txt"):
            self.assertEqual(consumers.cloudai_rows(sample(name)), [], name)

    def test_devices(self):
        self.assertEqual(consumers.cloudai_devices(sample("all_reduce.txt")), (2, "H200", 4))
        self.assertEqual(consumers.cloudai_devices(spoilt("all_reduce.txt", "NVIDIA H200", "H200")), (0, "Unknown", 0))
        self.assertEqual(consumers.cloudai_devices(sample("host_memory.txt")), (0, "Unknown", 0), "no GPU is made up")
        self.assertEqual(consumers.cloudai_devices(after_own_line("# Rank of this device: NVIDIA"))[2], 5)

    def test_columns(self):
        self.assertTrue(consumers.cloudai_has_columns(sample("all_reduce.txt")))
        self.assertFalse(consumers.cloudai_has_columns(spoilt("all_reduce.txt", "redop", "op")))

    def test_status(self):
        for path in (FOLDER / "samples").glob("*.txt"):
            self.assertTrue(consumers.cloudai_succeeded(path.read_text(encoding="utf-8")), path.name)
        for old, new in (("# Out of bounds values", "# Wrong"), ("# Avg bus bandwidth", "# Average"),
                         ("server1", "Test NCCL failure"), ("backend", "Test failure")):
            self.assertFalse(consumers.cloudai_succeeded(spoilt("all_reduce.txt", old, new)), new)

    def test_grade(self):
        self.assertEqual(consumers.cloudai_best(sample("all_reduce.txt")), 134.02)
        with self.assertRaises(ValueError):
            consumers.cloudai_best(after_own_line("one two three four five six seven eight nine ten eleven"))
        self.assertEqual(consumers.cloudai_best(after_own_line("# " + "word " * 20)), 134.02)


class SuperBench(unittest.TestCase):
    def test_columns(self):
        text = sample("all_reduce.txt")
        self.assertEqual(consumers.superbench(text), {r[0]: r[1:4] for r in ROWS})
        self.assertEqual(consumers.superbench(text, in_place=True), {r[0]: r[4:7] for r in ROWS})
        self.assertEqual(consumers.superbench(sample("hypercube.txt")), {r[0]: r[1:4] for r in ROWS}, "without an op")

    def test_it_reads_nothing_without_its_marks(self):
        with self.assertRaises(ValueError):
            consumers.superbench(spoilt("all_reduce.txt", "# Out of bounds values", "# Wrong"))
        with self.assertRaises(ValueError):
            consumers.superbench(spoilt("all_reduce.txt", "out-of-place", "first"))

    def test_other_comments_with_its_marks_would_hide_the_rows(self):
        text = spoilt("all_reduce.txt", "# Collective test concluded", "# out-of-place: best\n# Collective test concluded")
        with self.assertRaises(StopIteration):
            consumers.superbench(text)

    def test_time_stamps_shift_its_columns_as_with_nccl_tests(self):
        # One name, two words: it takes algbw for the time.
        self.assertEqual(consumers.superbench(sample("timestamps.txt"))[8388608], (89.35, 134.02, 0.0))


class Rows(unittest.TestCase):
    """Programs that match a row as a whole."""

    def test_nvcre(self):
        self.assertEqual(consumers.nvcre(sample("all_reduce.txt")), [row[:2] for row in BUSBW])
        self.assertEqual(consumers.nvcre(sample("other_types.txt")), [row[:2] for row in BUSBW])
        for name in ("hypercube.txt", "slow.txt"):
            self.assertEqual(consumers.nvcre(sample(name)), [], name)

    def test_ramble(self):
        for name in ("all_reduce.txt", "alltoall.txt", "unchecked.txt", "other_types.txt", "host_memory.txt"):
            self.assertEqual(consumers.ramble(sample(name)), BUSBW, name)
        for name in ("hypercube.txt", "slow.txt", "iterations.txt", "timestamps.txt"):
            self.assertEqual(consumers.ramble(sample(name)), [], name)
        self.assertEqual(len(consumers.ramble(spoilt("all_reduce.txt", "134.02", "   134"))), 5)
        self.assertEqual(len(consumers.ramble(spoilt("all_reduce.txt", "134.02", "     1"))), 4, "one digit")

    def test_ai_cloud_validation(self):
        average, rows = consumers.ai_cloud_validation(sample("all_reduce.txt"))
        self.assertEqual((average, rows), (AVERAGE, {size: (first, second) for size, first, second in BUSBW}))
        self.assertEqual(consumers.ai_cloud_validation(spoilt("all_reduce.txt", "   float", "  12.345"))[1], {})
        with self.assertRaises(TypeError):
            consumers.ai_cloud_validation(spoilt("all_reduce.txt", "Avg bus", "Mean"))

    def test_awsome_nccl_to_csv(self):
        for name in ("all_reduce.txt", "alltoall.txt", "unchecked.txt"):
            self.assertEqual(consumers.awsome_csv(sample(name)), (BUSBW, AVERAGE), name)
        for name in ("other_types.txt", "hypercube.txt", "slow.txt", "timestamps.txt", "iterations.txt"):
            self.assertEqual(consumers.awsome_csv(sample(name))[0], [], name)
        labelled = "".join("0: " + line for line in sample("all_reduce.txt").splitlines(keepends=True))
        self.assertEqual(consumers.awsome_csv(labelled)[0], [], "srun -l")

    def test_awsome_health_check(self):
        self.assertEqual(consumers.awsome_health_check(sample("all_reduce.txt")), 135.47)
        self.assertEqual(consumers.awsome_health_check(sample("hypercube.txt")), 135.47)
        self.assertEqual(consumers.awsome_health_check(sample("wrong.txt")), 135.47)
        self.assertNotEqual(consumers.awsome_health_check(sample("timestamps.txt")), 135.47, "with -S it reads the date")

    def test_xxrjun(self):
        got = consumers.xxrjun(sample("all_reduce.txt"))
        self.assertEqual(got, {"program": "all_reduce_perf", "sizes": (8, 8388608), "average": AVERAGE, "rows": 5,
                               "hosts": ["server1", "server1", "gpu-node-02", "gpu-node-02"]})
        self.assertEqual(consumers.xxrjun(sample("hypercube.txt"))["rows"], 0)
        with self.assertRaises(AttributeError):
            consumers.xxrjun(spoilt("all_reduce.txt", "minBytes", "from"))


class Average(unittest.TestCase):
    """Programs that read the line of the average."""

    def test_its_bytes(self):
        for path in sorted((FOLDER / "samples").glob("*.txt")):
            lines = [line for line in path.read_text(encoding="utf-8").splitlines() if "Avg bus" in line]
            self.assertEqual(len(lines), 1, path.name)
            self.assertRegex(lines[0], r"^# Avg bus bandwidth    : [0-9.e+-]+ (OK|FAILED)?$", path.name)

    def test_gcm(self):
        self.assertEqual(consumers.gcm(sample("all_reduce.txt")), AVERAGE)
        with self.assertRaises(StopIteration):
            consumers.gcm(spoilt("all_reduce.txt", "Avg bus bandwidth", "Average"))
        self.assertEqual(consumers.gcm(spoilt("all_reduce.txt", "Avg bus bandwidth", "Avg bus bandwidth of 4")), 4)

    def test_azure_nhc(self):
        for name in ("all_reduce.txt", "cpu_time.txt", "iterations.txt", "host_memory.txt"):
            self.assertEqual(consumers.azure_nhc(sample(name)), [str(AVERAGE)], name)
        self.assertIsNone(consumers.azure_nhc(sample("wrong.txt")))
        self.assertEqual(len(consumers.azure_nhc(after_own_line("# expected bandwidth of this link: 50 GB/s"))), 2)

    def test_oci_hpc(self):
        self.assertEqual(consumers.oci_hpc(sample("all_reduce.txt")), [AVERAGE])
        with self.assertRaises(IndexError):
            consumers.oci_hpc(spoilt("all_reduce.txt", "bandwidth    : ", "bandwidth    :"))
        self.assertEqual(consumers.oci_hpc(spoilt("all_reduce.txt", "Avg bus", "Avg_bus")), [])

    def test_gcp(self):
        self.assertEqual(consumers.gcp_average(sample("all_reduce.txt")), AVERAGE)
        for path in sorted((FOLDER / "samples").glob("*.txt")):
            self.assertEqual(consumers.gcp_nodes(path.read_text(encoding="utf-8")), HOSTS, path.name)
        self.assertIn("all", consumers.gcp_nodes(after_own_line("# measured on all nodes")))

    def test_sichek(self):
        self.assertEqual(consumers.sichek(sample("all_reduce.txt")), AVERAGE)
        with self.assertRaises(ValueError):
            consumers.sichek(spoilt("all_reduce.txt", f"{AVERAGE} ", f"{AVERAGE} GB/s"))


class Stdout(unittest.TestCase):
    """The rules that follow for every line (docs/formats.md)."""

    def test_one_line_is_ours(self):
        for path in sorted((FOLDER / "samples").glob("*.txt")):
            lines = path.read_text(encoding="utf-8").splitlines()
            self.assertTrue(lines[0].startswith("# nccl-tests version 2.19.6 nccl-headers="), path.name)
            self.assertTrue(lines[1].startswith("# nccl-bench "), path.name)
            for word in ("bandwidth", "FAILED", "Test failure", "out-of-place", "Out of bounds", "Rank", " on "):
                self.assertNotIn(word, lines[1], path.name)
            self.assertEqual([line for line in lines[2:] if "nccl-bench" in line], [], path.name)

    def test_only_rows_stand_between_columns_and_footer(self):
        for path in sorted((FOLDER / "samples").glob("*.txt")):
            lines = path.read_text(encoding="utf-8").splitlines()
            names = next(i for i, line in enumerate(lines) if line.startswith("#       size"))
            end = next(i for i, line in enumerate(lines) if line.startswith("# Out of bounds"))
            self.assertEqual([line[0] for line in lines[names + 2:end]], [" "] * 5, path.name)
            others = lines[:names + 2] + lines[end:]
            self.assertTrue(all(line.startswith("#") for line in others[:-1]), path.name)
            self.assertEqual(lines[-2:], ["#", ""], path.name)


class Files(unittest.TestCase):
    def test_nccl_tests_own_reader(self):
        version, agree, nodes = consumers.analyze_perf_json(sample("iterations.json"))
        self.assertEqual((version, agree, nodes), (3, [True] * 10, {"server1": [0], "gpu-node-02": [1]}))
        self.assertEqual(consumers.analyze_perf_json(sample("all_reduce.json")), (3, [], {}))
        data = json.loads(sample("iterations.json"))
        data["results"][0]["in_place_per_iter"]["times_us"][0] += 1
        self.assertFalse(all(consumers.analyze_perf_json(json.dumps(data))[1]))

    def test_the_numbers_of_the_table(self):
        results = json.loads(sample("all_reduce.json"))["results"]
        rows = [(r["size"], *(round(r[place][key], 2) for place in ("out_of_place", "in_place")
                              for key in ("time", "alg_bw", "bus_bw"))) for r in results]
        self.assertEqual(rows, ROWS)

    def test_our_member_is_the_last(self):
        for name in ("all_reduce.json", "iterations.json"):
            data = json.loads(sample(name))
            self.assertEqual(list(data)[-2:], ["end_time", "nccl_bench"], name)

    def test_csv(self):
        rows = list(csv.DictReader(io.StringIO(sample("all_reduce.csv"), newline="")))
        names = ("oop_time_us", "oop_algbw", "oop_busbw", "ip_time_us", "ip_algbw", "ip_busbw")
        self.assertEqual([(int(r["size"]), *(round(float(r[name]), 2) for name in names)) for r in rows], ROWS)
        self.assertEqual({(r["program"], r["backend"][:4], r["ranks"], r["oop_wrong"], r["oop_p50_us"]) for r in rows},
                         {("all_reduce_perf", "nccl", "4", "0", "")})


if __name__ == "__main__":
    unittest.main()
