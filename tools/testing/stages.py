# SPDX-License-Identifier: Apache-2.0
"""The stages of a test run. Each yields cases; none stops the others."""
import glob
import os
import subprocess
import sys
import time
import unittest

from tools.testing import cases
from tools.testing.cases import Case

NOISE = ("linux-sandbox", "Cannot export local symbol", "INFO: From ", "Loading:", "Analyzing:", "WARNING: Running Bazel server", "\x1b[")


def say(text):
    """A line of progress."""
    print(text, flush=True)


def bazel(arguments, output_base=None):
    """Runs the build tool; prints its lines without the sandbox's chatter. Returns its exit status."""
    startup = [f"--output_base={output_base}"] if output_base else []
    command = ["bash", "-c", '. tools/bazel.bash && bazel_command "$@"', "bazel", *startup, *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    for line in process.stdout:
        if not any(noise in line for noise in NOISE) and not line.startswith("["):
            sys.stdout.write(line)
    sys.stdout.flush()
    return process.wait()


def bazel_info(key, options=(), output_base=None):
    """One value of `bazel info`; some depend on the options of the build."""
    startup = [f"--output_base={output_base}"] if output_base else []
    command = ["bash", "-c", '. tools/bazel.bash && bazel_command "$@"', "bazel", *startup, "info", *options, key]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout.strip()


# Every folder with packages. Not //...: that walks into the links which the build leaves in the clone, and a second
# output folder takes what lies behind them for packages of ours.
FOLDERS = ("base", "bench", "cli", "core", "docs", "envplugin", "hw", "launcher", "pmix", "report", "site", "spank",
           "tests")


# The fuzzers meet clang and the sanitizers in their long form; of a program that dies on purpose they would only report it.
SLOW = ("tests/fuzz", "tests/payloads", "tests/perf")


class Bazel:
    """Tests of the build tool under one configuration. `each_case`: a test program is as many cases as it has, not one.
    `only_tests`: what no test needs is not built."""

    def __init__(self, name, config=None, folders=FOLDERS, each_case=False, without=(), also=(), only_tests=False):
        self.name, self.config, self.each_case = name, config, each_case
        self.flags = ["--build_tests_only"] if only_tests else []
        self.targets = [f"//{folder}/..." for folder in folders] + [*also] + [f"-//{folder}/..." for folder in without]

    def _output_base(self):
        # A configuration of its own folder: sharing one would rebuild everything at each change of it.
        return os.path.join(os.getcwd(), ".bazel-cache", self.config) if self.config else None

    def run(self):
        """The cases of every test program below the targets."""
        base = self._output_base()
        # bazel-bin stays what is installed and tested end to end.
        options = [f"--config={self.config}", "--experimental_convenience_symlinks=ignore"] if self.config else []
        options += self.flags
        started = time.time()
        status = bazel(["test", *options, "--keep_going", "--noshow_progress", "--", *self.targets], base)
        found = self._collect(bazel_info("bazel-testlogs", options, base), started)
        if status not in (0, 3, 4):  # 3: some test failed, which is among the cases; 4: no tests were found
            found.append(Case(f"{self.name}: build", time.time() - started, cases.FAILED, f"bazel ended with {status}"))
        if base:
            bazel(["shutdown"], base)
        return found

    def _collect(self, logs, started):
        out = []
        for path in sorted(glob.glob(f"{logs}/**/test.xml", recursive=True)):
            target = "//" + os.path.relpath(os.path.dirname(path), logs)
            target = ":".join(target.rsplit("/", 1))
            with open(path, encoding="utf-8", errors="replace") as file:
                found = cases.from_test_xml(target, file.read())
            out += found if self.each_case else [self._sum(target, found)]
        return out or [Case(f"{self.name}: no test ran", time.time() - started, cases.FAILED)]

    def _sum(self, target, found):
        failed = [case for case in found if case.outcome == cases.FAILED]
        outcome = cases.FAILED if failed else cases.PASSED
        return Case(f"{self.name} {target}", sum(case.seconds for case in found), outcome, failed[0].detail if failed else "")


class Python:
    """The unit tests of our Python tools."""

    name = "python"

    def run(self):
        """One case a test method."""
        suite = unittest.TestSuite()
        for folder, top in (("tools", "."), ("tests/tools", "tests/tools"), ("tests/bench", "tests/bench"),
                            ("tests/gpu", "tests/gpu"), ("packaging", "packaging"), ("payloads", "payloads")):
            suite.addTests(unittest.TestLoader().discover(folder, pattern="test_*.py", top_level_dir=top))
        result = _Timed()
        suite.run(result)
        return result.cases


class _Timed(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.cases, self._started = [], 0.0

    def startTest(self, test):
        super().startTest(test)
        self._started = time.time()

    def _add(self, test, outcome, detail=""):
        self.cases.append(Case(f"python: {test.id()}", time.time() - self._started, outcome, detail))

    def addSuccess(self, test):
        super().addSuccess(test)
        self._add(test, cases.PASSED)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        print(self._exc_info_to_string(err, test))
        self._add(test, cases.FAILED, str(err[1]))

    addError = addFailure

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._add(test, cases.SKIPPED, reason)


class Shell:
    """Our shell scripts, read by shellcheck."""

    name = "shell"

    def run(self):
        """One case a script."""
        return [self._check(path) for path in self._scripts()]

    @staticmethod
    def _scripts():
        listed = subprocess.run(["git", "ls-files"], stdout=subprocess.PIPE, text=True, check=True).stdout.split("\n")
        out = []
        for path in filter(os.path.isfile, listed):
            with open(path, "rb") as file:
                first = file.readline()
            if first.startswith((b"#!/bin/bash", b"#!/bin/sh")) or path.endswith((".bash", ".bats", ".sbatch")):
                out.append(path)
        return out

    @staticmethod
    def _check(path):
        started = time.time()
        run = subprocess.run(["shellcheck", "-x", "--severity=warning", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if run.returncode:
            print(run.stdout)
        outcome = cases.FAILED if run.returncode else cases.PASSED
        return Case(f"shell: {path}", time.time() - started, outcome)


class Bats:
    """End-to-end tests on the embedded cluster: one file after the other, each with clusters of its own."""

    def __init__(self, files, name="e2e", environment=None):
        self.files, self.name = files, name
        self._environment = environment  # added to that of the tests

    def run(self):
        """One case a test."""
        started = time.time()
        if subprocess.run(["tools/build"], check=False).returncode:
            return [Case(f"{self.name}: build", time.time() - started, cases.FAILED, "tools/build failed")]
        out = []
        for path in self.files:
            say(f"-- {path}")
            out += self._run_file(path)
        return out

    def _run_file(self, path):
        suite = f"{self.name} {os.path.basename(path)}"
        process = subprocess.Popen(["bats", "--timing", "--formatter", "tap", path], stdin=subprocess.DEVNULL,
                                   env=os.environ | (self._environment or {}),
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        found, planned = [], None
        for line in process.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()
            if line.startswith("1.."):
                planned = int(line[3:])
            case = cases.from_tap_line(suite, line.rstrip("\n"))
            if case:
                found.append(case)
        status = process.wait()
        if planned != len(found) or (status and not any(c.outcome == cases.FAILED for c in found)):
            detail = f"bats ended with {status} after {len(found)} of {planned} cases"
            found.append(Case(f"{suite}: whole file", 0.0, cases.FAILED, detail))
        return found
