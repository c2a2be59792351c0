# SPDX-License-Identifier: Apache-2.0
"""tools/test: every test of the project, from nothing.

  tools/test                 the default run
  tools/test --only STAGE    one stage of it: shell, python, whole, e2e, unit, tsan (may be given several times)
  tools/test --e2e FILE      end-to-end tests of one file (may be given several times)
  tools/test --list          the stages
  tools/test --slurm=SLURM   end to end with that Slurm: {releases}; this machine's or in a Debian root.
                             With --e2e some files of it; with --long also the long forms that start clusters
  tools/test --long          every long form instead of the stages
  tools/test --long=NAME     one long form (may be given several times):

{long_forms}

Prints the ten slowest cases and closes with "N passed, F failed, S skipped". Ends with 1 when a case failed or when a
full run passed fewer cases than tests/expected-count says.
"""
import argparse
import sys
import time

from tools.testing import cases, long_forms, slurm, stages

EXPECTED = "tests/expected-count"


def all_stages(files):
    """The stages of the default run, in order: what fails fast first."""
    threaded = ("pmix", "launcher", "spank", "base", "envplugin", "tests/envplugin")
    # The rest of bench/ has no threads of its own, and much to compile.
    workers = ("//bench:thread_team_test", "//bench:benchmark_test", "//bench:simulated_backend_test", "//bench:watchdog_test")
    return [
        stages.Shell(),
        stages.Python(),
        # Each unit test is compiled once, with sanitizers; what GCC makes for installation is in the tests of whole parts
        # and end to end. Both for all takes longer than there is: --long=gcc.
        stages.Bazel("whole", folders=("tests",), without=("tests/mpi",), each_case=True, only_tests=True),
        stages.Bats(files),
        stages.Bazel("unit", "clang-asan", without=stages.SLOW, each_case=True, only_tests=True),
        stages.Bazel("tsan", "tsan", threaded, also=workers, only_tests=True),
    ]


def parse(words):
    """The command line."""
    usage = __doc__.format(long_forms=long_forms.describe(), releases=", ".join(slurm.RELEASES))
    parser = argparse.ArgumentParser(prog="tools/test", usage=usage, add_help=True, allow_abbrev=False)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--e2e", action="append", default=[])
    parser.add_argument("--slurm")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--long", action="append", nargs="?", const=long_forms.ALL, default=[])
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


def wrong(what, seen, valid):
    """Prints what is wrong with the command line; returns the exit status for it."""
    print(f'tools/test: {what}: got "{seen}", expected {", ".join(valid)}', file=sys.stderr)
    return 2


def run_all(chosen):
    """Runs the stages one after the other; the cases of all, after printing what there is to say of them."""
    started, found = time.time(), []
    for stage in chosen:
        stages.say(f"== {stage.name}")
        found += stage.run()
    report(found, time.time() - started)
    return found


def close(found, least=0):
    """The closing line; returns the exit status. `least`: how many cases must have passed."""
    passed, failed = count(found, cases.PASSED), count(found, cases.FAILED)
    if passed < least:
        print(f"failed: {passed} cases passed, {EXPECTED} says at least {least}")
        failed += 1
    print(f"{passed} passed, {failed} failed, {count(found, cases.SKIPPED)} skipped")
    return 1 if failed else 0


def run_with_slurm(options, words):
    """Runs what starts clusters, with the Slurm that is wanted; returns the exit status."""
    if options.only or options.list:
        return wrong("--slurm goes with neither --only nor --list", " ".join(words), ["--slurm, --e2e and --long"])
    if options.slurm not in slurm.RELEASES:
        return wrong("unknown Slurm", options.slurm, slurm.RELEASES)
    unknown = long_forms.unknown(options.long)
    if unknown:
        return wrong("unknown long form", unknown[0], long_forms.names())
    forms = long_forms.stages_of(options.long, with_clusters=True)
    return close(run_all([slurm.Slurm(options.slurm, options.e2e), *(slurm.Within(options.slurm, form) for form in forms)]))


def main(words):
    """Runs the stages, or the long forms; returns the exit status."""
    options = parse(words)
    if options.slurm is not None:
        return run_with_slurm(options, words)
    if options.long:
        if options.only or options.e2e or options.list:
            return wrong("--long goes with none of --only, --e2e and --list", " ".join(words), ["--long or --long=NAME"])
        unknown = long_forms.unknown(options.long)
        if unknown:
            return wrong("unknown long form", unknown[0], long_forms.names())
        return close(run_all(long_forms.stages_of(options.long)))
    chosen = all_stages(options.e2e or slurm.e2e_files())
    known = [stage.name for stage in chosen]
    if options.list:
        print("\n".join(known))
        return 0
    only = options.only or (["e2e"] if options.e2e else [])
    unknown = sorted(set(only) - set(known))
    if unknown:
        return wrong("unknown stage", unknown[0], known)
    found = run_all([stage for stage in chosen if not only or stage.name in only])
    return close(found, 0 if only else expected_count())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
