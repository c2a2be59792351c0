# SPDX-License-Identifier: Apache-2.0
"""The fuzzers of tests/fuzz with libFuzzer (tools/test --long=fuzz).

  python3 -m tools.testing.fuzz run [--runs N] [--seconds S] [NAME...]   fuzzers by name; default: all, as the long form
  python3 -m tools.testing.fuzz keep [NAME...]                           what runs have found becomes the kept corpus
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from tools.testing import cases, stages
from tools.testing.cases import Case

FOLDER = "tests/fuzz"
WORK = ".bazel-cache/fuzz-work"  # inputs and findings, kept between runs
RUNS = 1_000_000
LEAST_SECONDS = 600  # of all fuzzers together, by the clock
JOBS = 2
LIMIT_SECONDS = 3 * 3600  # one fuzzer, before it counts as hanging

# Bytes of one input. Less where what is read is short, or where one run takes long: a million of them in minutes.
LENGTH = 1024
LENGTHS = {
    "address": 64, "bench_memory": 256, "bench_sizes": 128, "check_value": 256, "decide": 256, "env_wish": 64, "machine": 2048,
    "gather": 2048,
    "capture_text": 2048, "nccl_integer": 64, "nccl_version": 32, "number": 64, "scrub": 64, "spank_mode": 64,
    "sysfs_text": 128, "tasks_per_node": 128,
}

KEPT_FILES = 20
KEPT_BYTES = 4096

UNITS = re.compile(r"^stat::number_of_executed_units:\s*(\d+)", re.MULTILINE)
ARTIFACT = re.compile(r"Test unit written to (\S+)")


@dataclass
class Outcome:
    """How one fuzzer ended."""

    name: str
    runs: int
    seconds: float
    problem: str = ""

    def line(self):
        """For the table of figures."""
        rate = self.runs / self.seconds if self.seconds > 0 else 0
        return f"  {self.name:<18} {self.runs:>10} runs {self.seconds:>8.1f} s {rate:>9.0f} a second"

    def case(self):
        """For the sum of all tests."""
        outcome = cases.FAILED if self.problem else cases.PASSED
        return Case(f"fuzz {self.name}", self.seconds, outcome, self.problem)


def known():
    """The names of all fuzzers."""
    suffix = "_fuzz.cc"
    return sorted(os.path.basename(path)[: -len(suffix)] for path in glob.glob(f"{FOLDER}/*{suffix}"))


def options_of(name, least):
    """The fuzzer's options; `least` is "-runs=N" or "-max_total_time=S"."""
    out = [least, f"-max_len={LENGTHS.get(name, LENGTH)}", f"-artifact_prefix={WORK}/{name}.found/",
           "-timeout=30", "-rss_limit_mb=2048", "-print_final_stats=1", "-verbosity=0"]
    dictionary = f"{FOLDER}/dictionaries/{name}.dict"
    return out + ([f"-dict={dictionary}"] if os.path.exists(dictionary) else [])


def judge(name, status, output, seconds, wanted_runs):
    """The outcome of a fuzzer from its exit status and its output."""
    units = UNITS.search(output)
    runs = int(units[1]) if units else 0
    artifact = ARTIFACT.search(output)
    if status is None:
        problem = f"did not end within {LIMIT_SECONDS} s"
    elif status != 0:
        problem = f"ended with {status}"
        if artifact:
            problem += f"; its input: {artifact[1]}; see it again: {binary(name)} {artifact[1]}"
    elif runs < wanted_runs:
        problem = f"made {runs} runs, expected at least {wanted_runs}"
    else:
        problem = ""
    return Outcome(name, runs, seconds, problem)


def binary(name):
    """Where the build leaves the fuzzer."""
    return os.path.join(".bazel-cache", "fuzz-bin", f"{name}_fuzzer")


def fuzz(name, least, wanted_runs=0):
    """Runs one fuzzer, with what earlier runs have found."""
    for suffix in ("", ".found"):
        os.makedirs(f"{WORK}/{name}{suffix}", exist_ok=True)
    command = [binary(name), *options_of(name, least), f"{WORK}/{name}", f"{FOLDER}/corpus/{name}"]
    started, status, output = time.time(), None, ""
    try:
        run = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, errors="replace", timeout=LIMIT_SECONDS, check=False)
        status, output = run.returncode, run.stdout
    except subprocess.TimeoutExpired:
        pass
    outcome = judge(name, status, output, time.time() - started, wanted_runs)
    if outcome.problem:
        print(output[-6000:])
    stages.say(outcome.line() + (f"  {outcome.problem}" if outcome.problem else ""))
    return outcome


def added(first, second):
    """Two outcomes of the same fuzzer as one."""
    return Outcome(first.name, first.runs + second.runs, first.seconds + second.seconds, first.problem or second.problem)


def build(names):
    """Builds the fuzzers and copies them to where binary() says. The error, or nothing."""
    base = os.path.join(os.getcwd(), ".bazel-cache", "fuzz")
    options = ["--config=fuzz", "--experimental_convenience_symlinks=ignore"]
    status = stages.bazel(["build", *options, "--noshow_progress", "--", *(f"//{FOLDER}:{n}_fuzzer" for n in names)], base)
    if status == 0:
        folder = stages.bazel_info("bazel-bin", options, base)
        for name in names:
            os.makedirs(os.path.dirname(binary(name)), exist_ok=True)
            shutil.copy(f"{folder}/{FOLDER}/{name}_fuzzer", binary(name) + ".new")
            os.replace(binary(name) + ".new", binary(name))
    stages.bazel(["shutdown"], base)
    return f"bazel ended with {status}" if status else ""


class Fuzz:
    """Every fuzzer: so many runs each, and so many seconds in all."""

    name = "fuzz"

    def __init__(self, names=None, runs=RUNS, least_seconds=LEAST_SECONDS):
        self.names, self.runs, self.least_seconds = names or known(), runs, least_seconds

    def run(self):
        """One case a fuzzer."""
        started = time.time()
        problem = build(self.names)
        if problem:
            return [Case("fuzz: build", time.time() - started, cases.FAILED, problem)]
        started = time.time()
        with ThreadPoolExecutor(JOBS) as pool:
            outcomes = list(pool.map(lambda name: fuzz(name, f"-runs={self.runs}", self.runs), self.names))
            outcomes = self._longer(pool, outcomes, self.least_seconds - (time.time() - started))
        print(f"\n{len(outcomes)} fuzzers in {time.time() - started:.0f} s, {JOBS} at a time")
        for outcome in outcomes:
            print(outcome.line())
        return [outcome.case() for outcome in outcomes]

    @staticmethod
    def _longer(pool, outcomes, seconds):
        """Spreads the seconds that are still missing over the fuzzers that found nothing."""
        again = [outcome for outcome in outcomes if not outcome.problem]
        if seconds <= 0 or not again:
            return outcomes
        each = int(seconds * JOBS / len(again)) + 1
        more = {o.name: o for o in pool.map(lambda o: fuzz(o.name, f"-max_total_time={each}"), again)}
        return [added(o, more[o.name]) if o.name in more else o for o in outcomes]


def spread(paths, count):
    """At most `count` of `paths`, evenly over their order, the first and the last among them."""
    if len(paths) <= count:
        return paths
    return [paths[round(i * (len(paths) - 1) / (count - 1))] for i in range(count)]


def keep(name):
    """Replaces the found part of the kept corpus (names of 40 hexadecimal digits) by a minimised one."""
    kept = f"{FOLDER}/corpus/{name}"
    with tempfile.TemporaryDirectory() as merged:
        command = [binary(name), "-set_cover_merge=1", f"-max_len={KEPT_BYTES}", merged, kept, f"{WORK}/{name}"]
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        given = [f for f in os.listdir(kept) if not re.fullmatch("[0-9a-f]{40}", f)]
        texts = {open(f"{kept}/{f}", "rb").read() for f in given}
        found = [f"{merged}/{f}" for f in sorted(os.listdir(merged))]
        found = [f for f in found if open(f, "rb").read() not in texts and os.path.getsize(f) <= KEPT_BYTES]
        for old in set(os.listdir(kept)) - set(given):
            os.remove(f"{kept}/{old}")
        for path in spread(sorted(found, key=os.path.getsize), max(2, KEPT_FILES - len(given))):
            shutil.copy(path, kept)
    print(f"  {name:<18} {len(os.listdir(kept))} files kept")


def main(words):
    """The command line at the top of this file."""
    parser = argparse.ArgumentParser(prog="python3 -m tools.testing.fuzz", usage=__doc__, allow_abbrev=False)
    parser.add_argument("what", choices=("run", "keep"))
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--seconds", type=int, default=LEAST_SECONDS)
    parser.add_argument("names", nargs="*")
    options = parser.parse_intermixed_args(words)
    for name in options.names:
        if name not in known():
            print(f'unknown fuzzer: got "{name}", expected {", ".join(known())}', file=sys.stderr)
            return 2
    if options.what == "keep":
        for name in options.names or known():
            keep(name)
        return 0
    found = Fuzz(options.names, options.runs, options.seconds).run()
    return 1 if any(case.outcome == cases.FAILED for case in found) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
