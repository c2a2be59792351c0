# SPDX-License-Identifier: Apache-2.0
"""What compare.py masks, and that nothing else can differ unseen."""
import unittest

from comparing import masks, reports
from gpu_samples import BOTH_REPORT, OURS, SUMMARY, THEIRS, report


def changed(text, old, new):
    """The text with one change; the old text must be there."""
    if old not in text:
        raise AssertionError(f"{old!r} is not in the sample")
    return text.replace(old, new, 1)


def faults(ours, theirs=THEIRS):
    """The faults of two tables as pairs.py looks for them."""
    text, fault = masks.without_own_line(ours)
    return ([fault] if fault else []) + masks.differences(masks.mask(text), masks.mask(theirs)) + masks.definition_faults(
        text, theirs)


class Same(unittest.TestCase):
    def test_sample(self):
        self.assertEqual(faults(OURS), [])

    def test_measured_is_masked(self):
        for old, new in (("  123.45   10.00    0.00", "   98.70   12.51    0.00"), ("Pid   1234", "Pid 987654"),
                         ("  20.00", "  19.80")):
            with self.subTest(new):
                self.assertEqual(faults(changed(OURS, old, new)), [])

    def test_extras(self):
        for ours, theirs in (
                ("# Avg bus bandwidth    : 12.5 OK\n", "# Avg bus bandwidth    : 3.1e-05 OK\n"),
                ("# GPU memory usage     : Initialization 1.23 GB | User-Allocated 64.0 MB | Collective 0.00 B | Total  1.29 GB\n",
                 "# GPU memory usage     : Initialization 845 MB | User-Allocated -2.00 KB | Collective 2.00 MB | Total  847 MB\n"),
                (" .. vm pid 77: Test failure common.cu:1461\n", "vm: Test failure too few GPUs\n .. vm pid 7: Test failure x\n"),
                (SUMMARY, SUMMARY.replace("   12.34", "    9.00").replace("=12.34", "=9.00"))):
            with self.subTest(ours):
                self.assertEqual(masks.mask(ours), masks.mask(theirs))


class Different(unittest.TestCase):
    def test_seen(self):
        for old, new in (
                ("        1024           256     float     sum      -1", "        1024           255     float     sum      -1"),
                ("   float ", "    half "), ("     sum", "    none"), ("      -1", "       0"),
                ("    0.00       0\n", "    0.00       1\n"), ("    0.00       0\n", "    0.00    N/A\n"),
                ("    0.00       0\n", "    0.00       0 \n"),
                (" 123.45 ", " 123.4  "), (" 123.45 ", "123.450 "),
                ("    0.00       0", "   0.000       0"),  # more decimals than fit the rule
                ("# nThread 1", "# nThread 2"), ("in-place          \n", "in-place         \n"), (" Group  0", " Group 0"),
                ("on         vm", "on vm"), ("Pid   1234", "Pid 1234"), (" OK\n", " FAILED\n"),
                ("bandwidth    : 0 ", "bandwidth    : 0"),
                ("bandwidth    : 0 ", "bandwidth    : 0.1 "), ("\n#\n\n", "\n#\n"), ("nccl-library=22809", "nccl-library=22810"),
                ("# Using devices", "# using devices")):
            with self.subTest(f"{old!r} {new!r}"):
                self.assertNotEqual(faults(changed(OURS, old, new)), [])

    def test_own_line(self):
        line = "# nccl-bench 0.1.0 backend nccl (NCCL 2.28.9, /usr/lib/libnccl.so.2)\n"
        for text in (OURS.replace(line, ""), OURS.replace(line, line * 2), line + OURS.replace(line, ""), OURS + line):
            with self.subTest(text[:90]):
                self.assertIn("expected once", " ".join(faults(text)))
        self.assertEqual(masks.without_own_line(""), ("", ""))

    def test_definitions(self):
        row = "        1024           256     float     sum      -1" + 2 * "    10.00   20.00   20.00       0" + "\n"
        for old, new, said in (("20.00   20.00", "20.00   10.00", "busbw/algbw 0.500"),
                               ("10.00   20.00   20.00", "10.00   30.00   30.00", "time x algbw")):
            with self.subTest(said):
                found = masks.definition_faults(row.replace(old, new, 1), row)
                self.assertEqual(len(found), 1)
                self.assertIn(said, found[0])
                self.assertIn("row 1, 1024 bytes, out of place", found[0])
        self.assertEqual(masks.definition_faults(row.replace("10.00   20", "99.00   20"), "  cputime  \n" + row), [])


class Numbers(unittest.TestCase):
    def test_right(self):
        for text, width in (("   1.23", 7), ("9999.99", 7), ("12345.6", 7), (" 123457", 7), ("1234567", 7), ("1.2e+07", 7),
                            ("  0.00", 6), ("999.99", 6), ("1234.5", 6), (" 12345", 6), (" 1e+06", 6), ("   nan", 6),
                            ("   inf", 6)):
            self.assertTrue(masks.is_written_right(text, width), text)

    def test_wrong(self):
        for text, width in (("   1.2 ", 7), ("   1.20", 6), ("    1.2", 7), ("      1", 7), (" 1234.5", 7), ("1.23e+7", 7),
                            ("1.2e+06", 6), ("      ", 6), ("  1.2.", 6), ("  0x10", 6), ("1.234", 5), ("  -nan ", 7)):
            self.assertFalse(masks.is_written_right(text, width), text)


class Rows(unittest.TestCase):
    def test_read(self):
        rows = masks.measured_rows(OURS)
        self.assertEqual([row.size for row in rows], [1024, 2048])
        self.assertEqual(rows[0].times, (123.45, 5.5))
        self.assertEqual(rows[0].algorithm, (10.0, 20.0))
        self.assertEqual(rows[0].bus, (0.0, 0.0))

    def test_iterations_and_stamps(self):
        front = "        1024           256     float              -1"
        block, more = "    10.00   20.00   20.00    N/A", "     9.00    11.00    11.00     3.20"
        stamp = "  2026-12-01 10:00:00"
        for row in (front + 2 * block, front + 2 * block + stamp, front + 2 * (block + more), front + 2 * (block + more) + stamp):
            with self.subTest(row):
                self.assertEqual(len(masks.measured_rows(row)), 1)
                self.assertNotRegex(masks.mask(row), r"2026|20\.00|10\.00|11\.00|3\.20")

    def test_none(self):
        for row in ("", "#", "        1024           256     float     sum      -1", "1 2 3", OURS.splitlines()[8][:90]):
            self.assertEqual(masks.measured_rows(row), [])


class Reports(unittest.TestCase):
    def test_same(self):
        self.assertEqual(report(BOTH_REPORT, True), report(BOTH_REPORT.replace("12.500000", "1.000000"), False))
        own = BOTH_REPORT[:-1] + ',"nccl_bench":{"version":"nccl-bench 0.1.0"}}'
        self.assertEqual(report(own, True), report(BOTH_REPORT, False))

    def test_different(self):
        for old, new in (('"size":8', '"size":16'), ("12.500000", "12.5"), ("12.500000", "12"), ('"okay":"true"', '"okay":true'),
                         ('"version":3,', ""), ('"time":12.500000,"alg_bw":0.000000', '"alg_bw":0.000000,"time":12.500000'),
                         ('"nwrong":null', '"nwrong":0.000000'), ("2026-12-01 10:00:00", "2026-12-01T10:00:00"),
                         ('"errors":[""]', '"errors":[]'), ('"root":"    -1"', '"root":"-1"'), ('"-b"', '"-e"')):
            with self.subTest(new):
                self.assertNotEqual(report(changed(BOTH_REPORT, old, new), True), report(BOTH_REPORT, False))

    def test_environment_is_left_out(self):
        text = reports.without_environment(BOTH_REPORT)
        self.assertNotIn("SECRET", text)
        self.assertEqual(report(text, False), report(BOTH_REPORT, False))
        for broken in ("", "{", '{"env":["SECRET=1', '{"env": 5}'):
            self.assertNotIn("SECRET", reports.without_environment(broken))


if __name__ == "__main__":
    unittest.main()
