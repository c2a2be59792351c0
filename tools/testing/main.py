# SPDX-License-Identifier: Apache-2.0
"""tools/test: every test of the project, from nothing.

  tools/test                 the default run
  tools/test --only STAGE    one stage of it: unit, python, shell, e2e, asan, tsan, clang (may be given several times)
  tools/test --e2e FILE      end-to-end tests of one file (may be given several times)
  tools/test --list          the stages

Prints the ten slowest cases and closes with "N passed, F failed, S skipped". Ends with 1 when a case failed or when a
full run passed fewer cases than tests/expected-count says.
"""
import argparse
import glob
import sys
import time

from tools.testing import cases, stages

EXPECTED = "tests/expected-count"


def all_stages(files):
    """The stages of the default run, in order: what fails fast first."""
    threaded = ("pmix", "launcher", "spank", "base")
    return [
        stages.Shell(),
        stages.Python(),
        stages.Bazel("unit", each_case=True),
        stages.Bats(files),
        stages.Bazel("asan", "asan"),
        stages.Bazel("tsan", "tsan", threaded),
        stages.Bazel("clang", "clang"),
    ]


def parse(words):
    """The command line."""
    parser = argparse.ArgumentParser(prog="tools/test", usage=__doc__, add_help=True, allow_abbrev=False)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--e2e", action="append", default=[])
    parser.add_argument("--list", action="store_true")
    return parser.parse_args(words)


def report(found, seconds):
    """Prints what failed, what was skipped and why, the slowest cases."""
    print("\nThe ten slowest cases")
    for case in sorted(found, key=lambda c: -c.seconds)[:10]:
        print(f"  {case.seconds:7.1f} s  {case.name}")
    for outcome in (cases.SKIPPED, cases.FAILED):
        for case in found:
            if case.outcome == outcome:
                print(f"{outcome}: {case.name}" + (f": {case.detail}" if case.detail else ""))
    print(f"{len(found)} cases in {seconds:.0f} s")


def count(found, outcome):
    """How many cases ended so."""
    return sum(case.outcome == outcome for case in found)


def expected_count():
    """The number of cases that a full run passes at least."""
    with open(EXPECTED, encoding="ascii") as file:
        return int(file.read())


def main(words):
    """Runs the stages; returns the exit status."""
    options = parse(words)
    chosen = all_stages(options.e2e or sorted(glob.glob("tests/e2e/*.bats")))
    if options.list:
        print("\n".join(stage.name for stage in chosen))
        return 0
    only = options.only or (["e2e"] if options.e2e else [])
    unknown = set(only) - {stage.name for stage in chosen}
    if unknown:
        names = ", ".join(stage.name for stage in chosen)
        print(f'tools/test: unknown stage: got "{sorted(unknown)[0]}", expected {names}', file=sys.stderr)
        return 2
    started, found = time.time(), []
    for stage in chosen:
        if not only or stage.name in only:
            stages.say(f"== {stage.name}")
            found += stage.run()
    report(found, time.time() - started)
    passed, failed = count(found, cases.PASSED), count(found, cases.FAILED)
    if not only and passed < expected_count():
        print(f"failed: {passed} cases passed, {EXPECTED} says at least {expected_count()}")
        failed += 1
    print(f"{passed} passed, {failed} failed, {count(found, cases.SKIPPED)} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
