# SPDX-License-Identifier: Apache-2.0
"""What is built beside other tests."""
import contextlib
import os
import stat
import tempfile
import time
import unittest
from unittest import mock

from tools.testing import cases, main, stages

# Tells what it was started with, and ends with a word when it is interrupted.
BUILD_TOOL = """#!/bin/bash
trap 'echo interrupted >>"$TOLD"; exit 8' INT
printf '%s\\n' "nice $(nice)" "$*" >>"$TOLD"
for _ in {1..200}; do sleep 0.05; done
"""


class Beside(unittest.TestCase):
    """Bazel.built_beside, and who enters it."""

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        path = os.path.join(self._folder.name, "bazel")
        with open(path, "w", encoding="ascii") as file:
            file.write(BUILD_TOOL)
        os.chmod(path, stat.S_IRWXU)
        self._told = os.path.join(self._folder.name, "told")
        changed = {"PATH": f"{self._folder.name}:{os.environ['PATH']}", "TOLD": self._told, "HOME": self._folder.name}
        patch = mock.patch.dict(os.environ, changed)
        patch.start()
        self.addCleanup(patch.stop)

    def _lines(self, least):
        deadline = time.monotonic() + 10
        lines = []
        while len(lines) < least and time.monotonic() < deadline:
            with contextlib.suppress(FileNotFoundError):
                with open(self._told, encoding="ascii") as file:
                    lines = file.read().splitlines()
            time.sleep(0.01)
        return lines

    def test_builds_the_tests_until_the_others_are_done(self):
        unit = stages.Bazel("unit", "clang-asan", ("base", "bench"), without=("tests/fuzz",))
        with unit.built_beside():
            niceness, words = self._lines(2)
        self.assertEqual(niceness, "nice 19")
        self.assertEqual(words.split()[0], "--batch", "a server has a session of its own")
        self.assertIn(f"--output_base={os.getcwd()}/.bazel-cache/clang-asan build --build_tests_only", words)
        self.assertIn("--config=clang-asan", words)
        self.assertTrue(words.endswith("-- //base/... //bench/... -//tests/fuzz/..."), words)
        self.assertEqual(self._lines(3)[2:], ["interrupted"])

    def test_a_build_that_has_ended_is_no_fault(self):
        with open(os.path.join(self._folder.name, "bazel"), "w", encoding="ascii") as file:
            file.write("#!/bin/sh\nexit 1\n")
        with stages.Bazel("unit", "clang-asan").built_beside():
            time.sleep(0.2)

    def test_only_where_the_unit_tests_follow(self):
        for words, expected in ((True, True), (False, False)):
            chosen = main.all_stages(["a.bats"], words)
            with mock.patch.object(stages.subprocess, "Popen", side_effect=OSError("started")) as started:
                bats = next(stage for stage in chosen if stage.name == "e2e")
                with mock.patch.object(stages.subprocess, "run", return_value=mock.Mock(returncode=0)):
                    with self.assertRaises(OSError):
                        bats.run()
            self.assertEqual("bazel" in started.call_args.args[0], expected)

    def test_nothing_is_built_where_the_product_is_not(self):
        entered = mock.Mock()
        with mock.patch.object(stages.subprocess, "run", return_value=mock.Mock(returncode=1)):
            found = stages.Bats(["a.bats"], beside=entered).run()
        self.assertEqual([case.outcome for case in found], [cases.FAILED])
        entered.assert_not_called()


if __name__ == "__main__":
    unittest.main()
