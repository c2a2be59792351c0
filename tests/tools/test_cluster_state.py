# SPDX-License-Identifier: Apache-2.0
"""The state folder and the words of tools/cluster: what it refuses to touch, and that no error ends in a traceback."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CLONE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(CLONE / "tools"))

from embedded_cluster import capture, fixture  # noqa: E402
from embedded_cluster.errors import BAD_INPUT, ClusterError, one_line  # noqa: E402
from embedded_cluster.state import MARKER, State  # noqa: E402

VERBS = (["up"], ["down"], ["status"], ["logs"], ["run", "true"], ["shell"], ["set", "server1", "a", "1"])


class WithFolder(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.above = Path(temporary.name)
        before = os.environ.get("NCCL_TUNE_CLUSTER_DIR")
        os.environ["NCCL_TUNE_CLUSTER_DIR"] = temporary.name
        self.addCleanup(lambda: os.environ.pop("NCCL_TUNE_CLUSTER_DIR") if before is None else
                        os.environ.update(NCCL_TUNE_CLUSTER_DIR=before))

    def cluster(self, *arguments, above=None):
        """Exit status and standard error of tools/cluster, which must be words."""
        env = os.environ | {"NCCL_TUNE_CLUSTER_DIR": str(above or self.above)}
        done = subprocess.run([CLONE / "tools" / "cluster", *arguments], env=env, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=20)
        self.assertNotIn("Traceback", done.stderr)
        return done.returncode, done.stderr

    def all_files(self):
        return sorted(str(path.relative_to(self.above)) for path in self.above.rglob("*"))


class Foreign(WithFolder):
    def refused(self, name, words):
        before = self.all_files()
        for verb, *rest in VERBS:
            with self.subTest(verb):
                status, said = self.cluster(verb, "--name", name, *rest)
                self.assertEqual(status, BAD_INPUT)
                self.assertIn(f"cluster: {self.above / name}: got {words}, expected", said)
                self.assertIn("remove it yourself", said)
                self.assertEqual(self.all_files(), before)

    def test_folder(self):
        (self.above / "g").mkdir()
        (self.above / "g" / "file").write_text("p")
        (self.above / "g" / "lock").write_text("")
        self.refused("g", "a folder without the file .nccl-tune-cluster")

    def test_link(self):
        (self.above / "real").mkdir()
        (self.above / "real" / MARKER).write_text("")
        (self.above / "h").symlink_to("real")
        (self.above / "dangling").symlink_to("nowhere")
        self.refused("h", "a link")
        self.refused("dangling", "a link")

    def test_file(self):
        (self.above / "f").write_text("p")
        self.refused("f", "something that is no folder")

    def test_marker_must_be_a_file(self):
        (self.above / "m" / MARKER).mkdir(parents=True)
        self.refused("m", "a folder without the file .nccl-tune-cluster")


class OwnFolder(WithFolder):
    def test_lock_clear_remove(self):
        state = State("own")
        lock = state.lock()
        self.addCleanup(os.close, lock)
        self.assertEqual(self.all_files(), ["own", f"own/{MARKER}", "own/lock"])
        self.assertIsNone(state.lock())
        (state.folder / "logs").mkdir()
        (state.folder / "link").symlink_to("/")
        state.clear()
        self.assertEqual(self.all_files(), ["own", f"own/{MARKER}", "own/lock"])
        state.remove()
        self.assertEqual(self.all_files(), [])
        state.remove()

    def test_place_where_no_folder_can_be(self):
        status, said = self.cluster("up", "--name", "f", above="/proc")
        self.assertEqual(status, BAD_INPUT)
        self.assertRegex(said, "^cluster: /proc/f: cannot use this state folder: .*NCCL_TUNE_CLUSTER_DIR.*\n$")
        (self.above / "file").write_text("")
        status, said = self.cluster("up", above=self.above / "file" / "below")
        self.assertEqual(status, BAD_INPUT)
        self.assertEqual(self.all_files(), ["file"])


class Words(WithFolder):
    def test_one_line(self):
        self.assertEqual(one_line("a\nb\tc\x1b[1m\x85\udcff\ud800 \u2028é"),
                         "a\\nb\\tc\\x1b[1m\\x85\\xff\\ud800 \\u2028é")

    def test_values_are_escaped(self):
        for arguments in (["up", "--name", "a\nb"], ["up", "--machine", "a\nb"], ["up", "--bin", "a\nb"],
                          ["status", "--a\nb"], ["up", "--nodes", "a\nb"], ["a\nb"]):
            with self.subTest(arguments):
                status, said = self.cluster(*arguments)
                self.assertEqual(status, BAD_INPUT)
                self.assertRegex(said, r"a\\+nb")

    def test_no_utf8(self):
        for verb in ("up", "down", "status"):
            status, said = self.cluster(verb, "--name", b"\xff")
            self.assertEqual(status, BAD_INPUT)
            self.assertIn('--name: got "\\xff"', said)

    def test_empty_and_odd_values(self):
        for arguments, words in ((["run", ""], 'CMD: got ""'), (["run", "--", ""], 'CMD: got ""'),
                                 (["up", "--bin", ""], '--bin: got ""'), (["set", "n", "p", "-x"], "NODE PATH -- VALUE")):
            with self.subTest(arguments):
                status, said = self.cluster(*arguments)
                self.assertEqual(status, BAD_INPUT)
                self.assertIn(words, said)

    def test_output_that_is_full(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([CLONE / "tools" / "cluster", "status"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stderr), (1, "cluster: No space left on device\n"))

    def test_hints_name_the_cluster(self):
        self.assertEqual(State("x").again(), "tools/cluster down --name x && tools/cluster up --name x")
        self.assertEqual(State("default").again(), "tools/cluster down && tools/cluster up")


class Change(WithFolder):
    def setUp(self):
        super().setUp()
        self.file = self.above / "a"
        self.file.write_text("old\n")

    def test_good(self):
        for value in ("1: DOWN", "", "-x", "é", "x" * (capture.MAX_VALUE - 1)):
            fixture.change(self.above, "a", value)
            self.assertEqual(self.file.read_text(encoding="utf-8"), value + "\n")

    def test_bad(self):
        for value, words in (("x" * capture.MAX_VALUE, "at most 65536 bytes"), ("é" * 40000, "at most 65536 bytes"),
                             ("a\tb", "without any"), ("\x1b", "without any"), ("\x85", "without any"),
                             ("a\nb", "one line"), ("\udcff", "UTF-8")):
            with self.subTest(value[:10]), self.assertRaises(ClusterError) as raised:
                fixture.change(self.above, "a", value)
            self.assertIn(words, str(raised.exception))
            self.assertEqual(raised.exception.status, BAD_INPUT)
            self.assertEqual(self.file.read_text(), "old\n")


if __name__ == "__main__":
    unittest.main()
