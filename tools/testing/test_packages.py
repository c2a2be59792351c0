# SPDX-License-Identifier: Apache-2.0
"""--long=packages, without a root and without a network."""
import contextlib
import io
import unittest

from tools.testing import packages
from tools.testing.cases import FAILED, PASSED, SKIPPED


class Suite(unittest.TestCase):
    def test_of_a_debian(self):
        self.assertEqual(packages.suite_of('ID=debian\nVERSION_CODENAME=bookworm\n\nnonsense\n'), "bookworm")
        self.assertEqual(packages.suite_of('ID="debian"\nVERSION_CODENAME="trixie"\n'), "trixie")

    def test_of_anything_else(self):
        for text in ("", "ID=debian\n", "ID=ubuntu\nVERSION_CODENAME=noble\n", "VERSION_CODENAME=bookworm\n", "ID\n=\n"):
            self.assertEqual(packages.suite_of(text), "", text)


class Skip(unittest.TestCase):
    def test_reasons(self):
        for words, reason in (((0, "bookworm", "/usr/sbin/debootstrap"), ""),
                              ((1000, "bookworm", "/usr/sbin/debootstrap"), "needs root"),
                              ((0, "", "/usr/sbin/debootstrap"), "this machine's /etc/os-release names no suite of Debian"),
                              ((0, "bookworm", None), "needs debootstrap: apt-get install debootstrap")):
            self.assertEqual(packages.reason_to_skip(*words), reason)


class Collect(unittest.TestCase):
    def collect(self, script):
        with contextlib.redirect_stdout(io.StringIO()):
            found = packages.Packages.collect(["sh", "-c", script])
        return [(case.name, case.outcome, case.detail) for case in found]

    def test_each_line_is_a_case(self):
        self.assertEqual(self.collect('echo 1..2; echo "ok 1 one in 5ms"; echo "# said"; echo "ok 2 two in 6ms"'),
                         [("packages: one", PASSED, ""), ("packages: two", PASSED, "")])
        self.assertEqual(self.collect('echo 1..1; echo "ok 1 one # skip no reason"'), [("packages: one", SKIPPED, "no reason")])

    def test_a_failed_case_is_enough(self):
        self.assertEqual(self.collect('echo 1..3; echo "not ok 1 one in 5ms"; exit 1'), [("packages: one", FAILED, "")])

    def test_what_ends_early_or_says_nothing_fails(self):
        for script, detail in (("exit 0", "ended with 0 after 0 of 0 cases"),
                               ("echo 1..2; echo 'ok 1 one'", "ended with 0 after 1 of 2 cases"),
                               ("echo 1..1; echo 'ok 1 one'; exit 9", "ended with 9 after 1 of 1 cases"),
                               ("echo oh; exit 3", "ended with 3 after 0 of 0 cases")):
            self.assertEqual(self.collect(script)[-1], ("packages: all", FAILED, detail))


if __name__ == "__main__":
    unittest.main()
