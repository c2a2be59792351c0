# SPDX-License-Identifier: Apache-2.0
"""--slurm, and the Debian roots behind it: what is taken, made, made again and skipped. Makes no root."""
import contextlib
import io
import os
import shutil
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from tools.testing import long_forms, main, roots, slurm, stages
from tools.testing.cases import PASSED, Case


class WithRoots(unittest.TestCase):
    """A folder of roots of its own."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.roots = Path(temporary.name) / "roots"
        for patch in (mock.patch.object(roots, "ROOTS", self.roots), mock.patch.object(roots, "mirror", lambda: "m"),
                      mock.patch.object(os, "geteuid", lambda: 0)):
            patch.start()
            self.addCleanup(patch.stop)

    def run_script(self, status, out="", err=""):
        """Stands for tools/setup and the script that makes a root; counts what is called."""
        def run(command, **_options):
            self.called.append(command)
            if str(roots.SCRIPT) in command:
                new = Path(command[command.index(str(roots.SCRIPT)) + 4])
                new.mkdir()
                (new / "half").touch()
                return mock.Mock(returncode=status, stdout=out, stderr=err)
            return mock.Mock(returncode=0)
        self.called = []
        patch = mock.patch.object(roots.subprocess, "run", run)
        patch.start()
        self.addCleanup(patch.stop)

    def make(self, release="24.11"):
        """What ready says, without its progress."""
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            return roots.ready(release)


class Roots(WithRoots):
    """When a root is made."""

    def test_made_once_and_again_when_not_whole_or_from_another_recipe(self):
        self.run_script(0, "24.11.5-4\n")
        root = self.make()
        self.assertEqual((root.release, root.version, root.path), ("24.11", "24.11.5-4", self.roots / "24.11"))
        self.assertEqual(len(self.called), 2)
        self.assertIn("trixie", self.called[1])
        self.assertEqual(self.make(), root)
        self.assertEqual(len(self.called), 2)
        (root.path / roots.MARKER).write_text("{")
        self.make()
        self.assertEqual(len(self.called), 4)
        with mock.patch.object(roots, "PACKAGES", ("other",)):
            self.assertIsNone(roots.find("24.11"))
            self.make()
        self.assertEqual(len(self.called), 6)
        self.assertIsNone(roots.find("24.11"))
        self.assertEqual(sorted(path.name for path in self.roots.iterdir()), ["24.11", "lock"])

    def test_what_a_run_left_that_was_ended_is_no_root(self):
        (self.roots / ".24.11.new" / "usr").mkdir(parents=True)
        (self.roots / "24.11").mkdir()
        self.run_script(0, "24.11.5-4\n")
        self.assertFalse((self.make().path / "usr").exists())
        self.assertEqual(sorted(path.name for path in self.roots.iterdir()), ["24.11", "lock"])

    def test_reasons(self):
        for status, out, err, reason in ((roots.OTHER_RELEASE, "sid has 26.11.1-1\n", "", "sid has 26.11.1-1"),
                                         (roots.OTHER_RELEASE, "sid has no slurmd\n", "", "sid has no slurmd"),
                                         (3, "", "a\nb: failed\n", "sid could not be installed: b: failed"),
                                         (1, "x", "", "sid could not be installed: no word")):
            self.run_script(status, out, err)
            with self.subTest(reason), self.assertRaises(roots.Unavailable) as raised:
                self.make("26.05")
            self.assertEqual(str(raised.exception), reason)
            self.assertEqual([path.name for path in self.roots.iterdir()], ["lock"])
        with mock.patch.object(os, "geteuid", lambda: 1000), self.assertRaises(roots.Unavailable) as raised:
            self.make("26.05")
        self.assertIn("as root only", str(raised.exception))

    def test_command(self):
        for words in ([], ["22.05"], ["x"], ["24.11", "26.05"]):
            err = io.StringIO()
            with contextlib.redirect_stderr(err):
                self.assertEqual(roots.main(words), 2)
            self.assertIn("expected one of 24.11, 26.05", err.getvalue())


class Same(unittest.TestCase):
    """Whether two plugins differ in no more than the micro number."""

    def test_one_byte_may_differ_and_what_is_stripped(self):
        with tempfile.TemporaryDirectory() as folder:
            old, new = Path(folder) / "old", Path(folder) / "new"
            shutil.copyfile("/bin/true", old)
            text = old.read_bytes()
            place = text.index(b"Copyright")
            for changed, same in ((text, True), (text + b"more", True),
                                  (text[:place] + b"X" + text[place + 1:], True),
                                  (text[:place] + b"XX" + text[place + 2:], False),
                                  (Path("/bin/false").read_bytes(), False)):
                new.write_bytes(changed)
                self.assertEqual(slurm.same_but_micro(old, new), same)


class Stage:
    """Stands for the bats stage and for a long form."""

    def __init__(self, files=None, name="form", environment=None):
        self.files, self.name, self.environment = files, name, environment

    def run(self):
        """One case that tells what it was given."""
        given = (self.environment or {}).get(slurm.VARIABLE) or os.environ.get(slurm.VARIABLE)
        return [Case(f"{self.name} {self.files} {given}", 0.0, PASSED)]


FORMS = (long_forms.LongForm("one", "no cluster", 5, lambda: Stage(name="one")),
         long_forms.LongForm("two", "clusters", 5, lambda: Stage(name="two"), clusters=True))


class Option(WithRoots):
    """--slurm on the command line."""

    def setUp(self):
        super().setUp()
        self.status, self.same = 0, True
        for patch in (mock.patch.object(stages, "Bats", Stage), mock.patch.object(long_forms, "LONG_FORMS", FORMS),
                      mock.patch.object(stages, "bazel", lambda *_: self.status),
                      mock.patch.object(slurm, "host_version", lambda: "22.05.8"),
                      mock.patch.object(slurm, "_built", lambda _: __file__),
                      mock.patch.object(slurm, "same_but_micro", lambda *_: self.same)):
            patch.start()
            self.addCleanup(patch.stop)

    def run_main(self, *words):
        """Exit status, stdout, stderr."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main.main(list(words))
        return status, out.getvalue(), err.getvalue()

    def test_this_machines(self):
        status, out, _ = self.run_main("--slurm=22.05", "--e2e", "a.bats")
        self.assertEqual((status, out.splitlines()[-1]), (0, "2 passed, 0 failed, 0 skipped"))
        self.assertIn("slurm-22.05 ['a.bats'] /", out)
        with mock.patch.object(slurm, "host_version", lambda: "24.11.5"):
            status, out, _ = self.run_main("--slurm=22.05")
        self.assertEqual((status, out.splitlines()[-1]), (0, "1 passed, 0 failed, 1 skipped"))
        self.assertIn("skipped: slurm-22.05: end to end: this machine has 24.11.5", out)

    def test_a_root_and_the_long_forms_with_clusters(self):
        self.run_script(0, "24.11.5-4\n")
        status, out, _ = self.run_main("--slurm=24.11", "--long")
        self.assertEqual((status, out.splitlines()[-1]), (0, "4 passed, 0 failed, 0 skipped"))
        self.assertIn("Slurm 24.11.5-4 in ", out)
        self.assertIn(f"two None {self.roots}/24.11", out)
        self.assertNotIn("one None", out)
        self.assertNotIn(slurm.VARIABLE, os.environ)
        self.same = False
        status, out, _ = self.run_main("--slurm=24.11")
        self.assertEqual((status, out.splitlines()[-1]), (1, "2 passed, 1 failed, 0 skipped"))
        self.assertIn("failed: slurm-24.11: the plugin is the same with the headers of 24.11.5-4", out)

    def test_no_root_is_a_skip_and_the_stamp_is_still_checked(self):
        self.run_script(roots.OTHER_RELEASE, "sid has 26.11.1-1\n")
        status, out, _ = self.run_main("--slurm=26.05", "--long=two")
        self.assertEqual((status, out.splitlines()[-1]), (0, "1 passed, 0 failed, 2 skipped"))
        self.assertIn("slurm-26.05: skipped: sid has 26.11.1-1", out)
        self.status = 3
        status, out, _ = self.run_main("--slurm=26.05")
        self.assertEqual((status, out.splitlines()[-1]), (1, "0 passed, 1 failed, 1 skipped"))

    def test_wrong_words_list_the_valid_ones(self):
        for words, message in ((["--slurm=23.11"], 'unknown Slurm: got "23.11", expected 22.05, 24.11, 26.05'),
                               (["--slurm="], 'unknown Slurm: got "", expected 22.05'),
                               (["--slurm=24.11.5"], 'unknown Slurm: got "24.11.5"'),
                               (["--slurm=24.11", "--only", "unit"], "--slurm goes with neither --only nor --list"),
                               (["--slurm=24.11", "--list"], "--slurm goes with neither --only nor --list"),
                               (["--slurm=24.11", "--long=x"], 'unknown long form: got "x", expected one, two')):
            status, out, err = self.run_main(*words)
            self.assertEqual((status, out), (2, ""), words)
            self.assertIn(message, err)


if __name__ == "__main__":
    unittest.main()
