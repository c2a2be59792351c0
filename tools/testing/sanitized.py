# SPDX-License-Identifier: Apache-2.0
"""The plugin with AddressSanitizer and UndefinedBehaviorSanitizer inside slurmd, slurmstepd, srun, sbatch and salloc.

The end-to-end tests run as always; what the sanitizers report goes to a folder, which must stay empty. docs/testing.md."""
import contextlib
import glob
import os
import platform
import shutil
import subprocess
import tempfile
import time
from unittest import mock

from tools.testing import slurm, stages
from tools.testing.cases import FAILED, PASSED, Case

CONFIG = "clang-asan"  # its runtime is one library; each of GCC's two takes the path of reports for itself
PACKAGE = "tests/spank/sanitized"
PRODUCT = ("cli/nccl-tune", "launcher/nccl-launch", "bench/nccl-bench", "envplugin/libnccl-env-nccl-tune.so")
PLUGIN, PLANTED = "spank/spank_nccl_tune.so", f"{PACKAGE}/planted.so"
COMMANDS = ("srun", "sbatch", "salloc", "slurmd")
RUNTIME = f"libclang_rt.asan-{platform.machine()}.so"
VARIABLE = "NCCL_TUNE_BIN"  # tools/cluster takes the product from there
# What must be reported, by the argument of the planted plugin.
PLANTS = {"overflow": "heap-buffer-overflow", "undefined": "signed integer overflow"}


def runtime():
    """The file of the compiler's runtime library."""
    done = subprocess.run(["clang", f"-print-file-name={RUNTIME}"], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip()


def lay_out(folder, plain, sanitized, library):
    """Puts the product for the clusters together: ours as built, the plugin with sanitizers, wrappers of Slurm's programs.

    `plain` and `sanitized` are build folders, `library` is the sanitizers' runtime."""
    instead, reports = os.path.join(folder, "instead"), os.path.join(folder, "reports")
    os.chmod(folder, 0o755)
    os.mkdir(instead)
    os.mkdir(reports)
    os.chmod(reports, 0o1777)  # a report is written by who made the fault
    for path in (*PRODUCT, *(os.path.relpath(path, plain) for path in glob.glob(f"{plain}/bench/libnccl_bench_*.so"))):
        shutil.copy(os.path.join(plain, path), folder)
    shutil.copy(os.path.join(sanitized, PLUGIN), folder)
    shutil.copy(os.path.join(sanitized, PLANTED), instead)
    shutil.copy(os.path.join(plain, PACKAGE, "options.so"), instead)
    for name in COMMANDS:
        shutil.copy(os.path.join(plain, PACKAGE, "command"), os.path.join(instead, name))
    shutil.copy(library, os.path.join(instead, "runtime.so"))
    with open(os.path.join(instead, "sanitizer-options"), "w", encoding="utf-8") as file:
        file.write(f"log_path={reports}/report\n")


def reports_of(folder):
    """What was reported, and forgets it: a text for each process."""
    out = []
    for path in sorted(glob.glob(f"{folder}/reports/*")):
        with open(path, encoding="utf-8", errors="replace") as file:
            out.append(file.read())
        os.unlink(path)
    return out


def judge_silence(suite, found, seconds):
    """The case that nothing was reported; prints what was."""
    for text in found:
        print(text[:8000])
    detail = f"{len(found)} reports, the first: {found[0].strip()[:300]}" if found else ""
    return Case(f"{suite}: nothing is reported", seconds, FAILED if found else PASSED, detail)


def judge_plant(suite, plant, found, seconds):
    """The case that a planted fault was reported."""
    seen = any(PLANTS[plant] in text for text in found)
    detail = "" if seen else f"expected a report of {PLANTS[plant]}, got {len(found)} reports"
    return Case(f"{suite}: a planted fault is reported ({PLANTS[plant]})", seconds, PASSED if seen else FAILED, detail)


def cluster(*words):
    """Runs tools/cluster."""
    return subprocess.run(["tools/cluster", *words], stdin=subprocess.DEVNULL, check=False)


class Sanitized:
    """Builds it, shows that a planted fault is reported, and runs the end-to-end tests."""

    name = "asan"

    def __init__(self, files=None):
        self._files = files

    def run(self):
        """The cases of the tests, one for each planted fault, one for the reports."""
        started = time.time()
        plain, sanitized = self._build()
        if not plain:
            return [Case(f"{self.name}: build", time.time() - started, FAILED, "the build failed")]
        # Not in /tmp: nodes of a cluster have one of their own.
        with tempfile.TemporaryDirectory(prefix="nccl-tune-sanitized.", dir="/var/tmp") as folder:
            lay_out(folder, plain, sanitized, runtime())
            with mock.patch.dict(os.environ, {VARIABLE: folder}):
                found = [self._plant(folder, plant) for plant in PLANTS]
                started = time.time()
                files = self._files or slurm.e2e_files()
                found += stages.Bats(files, self.name, {"NCCL_TUNE_SANITIZED": "1"}).run()
                return found + [judge_silence(self.name, reports_of(folder), time.time() - started)]

    @staticmethod
    def _build():
        """The folders of the plain and of the sanitized build, or nothing."""
        base = os.path.join(os.getcwd(), ".bazel-cache", CONFIG)
        ours = [f"//{PACKAGE}:command", f"//{PACKAGE}:options.so"]
        options = [f"--config={CONFIG}", "--experimental_convenience_symlinks=ignore"]
        targets = ["//" + ":".join(path.rsplit("/", 1)) for path in (PLUGIN, PLANTED)]
        failed = (subprocess.run(["tools/build"], check=False).returncode
                  or stages.bazel(["build", "--noshow_progress", *ours])
                  or stages.bazel(["build", "--noshow_progress", *options, *targets], base))
        sanitized = "" if failed else stages.bazel_info("bazel-bin", options, base)
        stages.bazel(["shutdown"], base)
        return ("", "") if failed else (stages.bazel_info("bazel-bin"), sanitized)

    def _plant(self, folder, plant):
        """A cluster in which the planted plugin is loaded beside ours, and one step there."""
        started = time.time()
        with tempfile.TemporaryDirectory(prefix="nccl-tune-planted.", dir="/var/tmp") as state, \
                mock.patch.dict(os.environ, {"NCCL_TUNE_CLUSTER_DIR": state}), contextlib.ExitStack() as stack:
            stack.callback(cluster, "down", "--name", "planted")
            if cluster("up", "--name", "planted", "--nodes", "1").returncode == 0:
                line = f"optional /run/cluster/bin/planted.so {plant}\n"
                with open(f"{state}/planted/conf/plugstack.conf.d/planted.conf", "w", encoding="ascii") as file:
                    file.write(line)
                cluster("run", "--name", "planted", "timeout", "-k1", "5", "srun", "-N1", "true")
            return judge_plant(self.name, plant, reports_of(folder), time.time() - started)
