# SPDX-License-Identifier: Apache-2.0
"""End-to-end tests with a chosen Slurm: this machine's, or another's in a Debian root. docs/testing.md."""
import glob
import os
import shutil
import subprocess
import tempfile
import time
from unittest import mock

from tools.testing import roots, stages
from tools.testing.cases import FAILED, PASSED, SKIPPED, Case

VARIABLE = "NCCL_TUNE_SLURM_ROOT"  # tools/cluster takes its root from it
HOST = "22.05"  # Debian 12's
RELEASES = (HOST, *roots.SUITES)
STAMPS = "//tests/spank:stamps_test"
PLUGIN = "//spank:spank_nccl_tune.so"


def e2e_files():
    """Every end-to-end test."""
    return sorted(glob.glob("tests/e2e/*.bats"))


def host_version():
    """The version of this machine's Slurm."""
    done = subprocess.run(["slurmd", "-V"], env={"PATH": "/usr/sbin:/usr/bin"}, stdout=subprocess.PIPE, text=True, check=False)
    return (done.stdout.split() or ["none"])[-1]


def same_but_micro(one, other):
    """Whether two plugins are the same but for the last byte of their stamps; sections that name files do not count."""
    with tempfile.TemporaryDirectory() as folder:
        texts = []
        for number, path in enumerate((one, other)):
            bare = os.path.join(folder, str(number))
            subprocess.run(["objcopy", "--strip-all", "--remove-section", ".note.gnu.build-id", path, bare], check=True)
            with open(bare, "rb") as file:
                texts.append(file.read())
    return len(texts[0]) == len(texts[1]) and sum(a != b for a, b in zip(*texts)) <= 1


def environment_of(release):
    """What makes tools/cluster take that Slurm; prints which it is. Raises Unavailable."""
    if release == HOST:
        version = host_version()
        if not version.startswith(HOST + "."):
            raise roots.Unavailable(f"this machine has {version}")
        stages.say(f"slurm-{release}: this machine's Slurm {version}")
        return {VARIABLE: "/"}
    root = roots.ready(release)
    stages.say(f"slurm-{release}: Slurm {root.version} in {root.path}")
    return {VARIABLE: str(root.path)}


class Slurm:
    """The bats files on clusters with one Slurm, after a look at the plugin for it."""

    def __init__(self, release, files=None):
        self.release, self.name = release, f"slurm-{release}"
        self._files = files

    def run(self):
        """One case a test, one for the stamps, one for what is built with the root's headers."""
        stamps = self._build("stamps of all releases", ["test", "--noshow_progress", STAMPS])
        try:
            environment = environment_of(self.release)
        except roots.Unavailable as reason:
            stages.say(f"{self.name}: skipped: {reason}")
            return [stamps, Case(f"{self.name}: end to end", 0.0, SKIPPED, str(reason))]
        root = roots.find(self.release) if self.release in roots.SUITES else None
        found = [stamps, *([self._with_headers_of(root)] if root else [])]
        return found + stages.Bats(self._files or e2e_files(), self.name, environment).run()

    def _build(self, what, arguments):
        started = time.time()
        status = stages.bazel(arguments)
        return Case(f"{self.name}: {what}", time.time() - started, FAILED if status else PASSED,
                    f"bazel ended with {status}" if status else "")

    def _with_headers_of(self, root):
        """The plugin built with the headers of the root's Slurm is the released one, which has this machine's."""
        what = f"the plugin is the same with the headers of {root.version}"
        released = f"//spank:spank_nccl_tune_{root.release}.so"
        case = self._build(what, ["build", "--noshow_progress", f"--repo_env=SLURM_INCLUDE={root.include}", PLUGIN])
        if case.outcome == FAILED:
            return case
        with tempfile.TemporaryDirectory() as folder:
            kept = os.path.join(folder, "plugin.so")
            shutil.copyfile(_built(PLUGIN), kept)
            second = self._build(what, ["build", "--noshow_progress", released])
            if second.outcome == PASSED and not same_but_micro(kept, _built(released)):
                second.outcome, second.detail = FAILED, f"{_built(released)} differs in more than the micro number"
        second.seconds += case.seconds
        return second


class Within:
    """Another stage, whose clusters are of one Slurm."""

    def __init__(self, release, stage):
        self.release, self.stage, self.name = release, stage, f"{stage.name} with Slurm {release}"

    def run(self):
        """The cases of that stage."""
        try:
            environment = environment_of(self.release)
        except roots.Unavailable as reason:
            return [Case(self.name, 0.0, SKIPPED, str(reason))]
        with mock.patch.dict(os.environ, environment):
            return self.stage.run()


def _built(target):
    """The file of a target with one."""
    return os.path.join(stages.bazel_info("bazel-bin"), *target[2:].split(":"))
