# SPDX-License-Identifier: Apache-2.0
"""--long=asan, without a build and without a cluster."""
import contextlib
import io
import os
import tempfile
import unittest

from tools.testing import sanitized
from tools.testing.cases import FAILED, PASSED

OVERFLOW = "==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1\n"
UNDEFINED = "planted.cc:1:2: runtime error: signed integer overflow: 1 + 2147483647\n"


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, path, text=""):
        path = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text or path)

    def test_layout(self):
        for path in (*sanitized.PRODUCT, "bench/libnccl_bench_mpi.so", f"{sanitized.PACKAGE}/options.so", f"{sanitized.PACKAGE}/command"):
            self.write(f"plain/{path}")
        for path in (sanitized.PLUGIN, sanitized.PLANTED):
            self.write(f"sanitized/{path}")
        self.write("libclang_rt.so")
        self.write("all/x")
        folder = f"{self.folder}/all"
        os.unlink(f"{folder}/x")
        sanitized.lay_out(folder, f"{self.folder}/plain", f"{self.folder}/sanitized", f"{self.folder}/libclang_rt.so")
        self.assertEqual(sorted(os.listdir(folder)), sorted([
            "instead", "reports", "nccl-tune", "nccl-launch", "nccl-bench", "libnccl-env-nccl-tune.so", "libnccl_bench_mpi.so",
            "spank_nccl_tune.so"]))
        self.assertEqual(sorted(os.listdir(f"{folder}/instead")), sorted([
            *sanitized.COMMANDS, "planted.so", "options.so", "runtime.so", "sanitizer-options"]))
        with open(f"{folder}/spank_nccl_tune.so", encoding="utf-8") as file:
            self.assertIn("/sanitized/", file.read())
        with open(f"{folder}/instead/sanitizer-options", encoding="utf-8") as file:
            self.assertEqual(file.read(), f"log_path={folder}/reports/report\n")
        # A report is written by a daemon of root's or by a user's process.
        self.assertEqual(os.stat(f"{folder}/reports").st_mode & 0o7777, 0o1777)
        self.assertEqual(os.stat(folder).st_mode & 0o7777, 0o755)

    def test_reports_are_taken_once(self):
        self.write("reports/report.12", OVERFLOW)
        self.write("reports/report.7", "bytes")
        self.assertEqual(sanitized.reports_of(self.folder), [OVERFLOW, "bytes"])
        self.assertEqual(sanitized.reports_of(self.folder), [])

    def test_a_report_that_is_no_text(self):
        os.mkdir(f"{self.folder}/reports")
        with open(f"{self.folder}/reports/report.1", "wb") as file:
            file.write(b"\xff\xfe")
        self.assertEqual(len(sanitized.reports_of(self.folder)), 1)


class Judge(unittest.TestCase):
    def test_silence(self):
        for found, outcome, detail in (([], PASSED, ""), ([OVERFLOW], FAILED, "1 reports, the first: ==1==ERROR"),
                                       ([UNDEFINED, OVERFLOW], FAILED, "2 reports, the first: planted.cc"),
                                       (["\n"], FAILED, "1 reports")):
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                case = sanitized.judge_silence("asan", found, 1.0)
            self.assertEqual((case.name, case.outcome), ("asan: nothing is reported", outcome), found)
            self.assertTrue(case.detail.startswith(detail), case.detail)
            self.assertEqual(out.getvalue(), "".join(text + "\n" for text in found))

    def test_plant(self):
        for plant, found, outcome in (("overflow", [OVERFLOW], PASSED), ("overflow", ["x", OVERFLOW], PASSED),
                                      ("undefined", [UNDEFINED], PASSED), ("overflow", [], FAILED),
                                      ("overflow", [UNDEFINED], FAILED), ("undefined", [OVERFLOW], FAILED), ("undefined", [""], FAILED)):
            case = sanitized.judge_plant("asan", plant, found, 1.0)
            self.assertEqual(case.outcome, outcome, (plant, found))
            self.assertIn(sanitized.PLANTS[plant], case.name)
            self.assertEqual(bool(case.detail), outcome == FAILED)


if __name__ == "__main__":
    unittest.main()
