# SPDX-License-Identifier: Apache-2.0
"""What takes too long for every run of tools/test: one entry each, run by --long=NAME."""
from dataclasses import dataclass
from functools import partial
from typing import Callable

from tools.testing import fuzz, packages, sanitized, slurm, stages

ALL = "all"  # --long without a name


@dataclass(frozen=True)
class LongForm:
    """A name, one line on what it does, the minutes it takes on 2 cores from nothing, and what makes its stage."""

    name: str
    what: str
    minutes: int
    make: Callable[[], object]
    clusters: bool = False  # whether it starts clusters of any Slurm that --slurm names


LONG_FORMS = (
    LongForm("faults", "the faults of a node, 1,000 steps in a row, 64 at once", 15,
             partial(stages.Bats, ["tests/e2e/faults.bats"], "faults", {"NCCL_TUNE_LONG": "1"}), clusters=True),
    LongForm("ports", "8 steps at once of two users in 8 ports, 1,000 rounds", 15,
             partial(stages.Bats, ["tests/e2e/ports.bats"], "ports", {"NCCL_TUNE_ROUNDS": "1000"}), clusters=True),
    LongForm("train", "training over three nodes: a stated loss, time limits, kills, a lost node, the same weights and losses", 15,
             partial(stages.Bats, ["tests/e2e/train.bats"], "train", {"NCCL_TUNE_LONG": "1"})),
    LongForm("asan", "the plugin with sanitizers inside slurmd, slurmstepd and Slurm's commands, end to end", 15, sanitized.Sanitized),
    LongForm("gcc", "unit tests of what GCC makes for installation", 14, partial(stages.Bazel, "gcc", each_case=True)),
    LongForm("gcc-asan", "unit tests with GCC's sanitizers", 10, partial(stages.Bazel, "gcc-asan", "asan", without=stages.SLOW)),
    LongForm("clang", "unit tests built by clang alone", 8, partial(stages.Bazel, "clang", "clang", without=stages.SLOW)),
    LongForm("fuzz", "every fuzzer under sanitizers: a million runs each, 10 minutes at least", 30, fuzz.Fuzz),
    LongForm("packages", "our Debian packages by apt in a fresh root that debootstrap makes, from a mirror", 5, packages.Packages),
    *(LongForm(f"slurm-{release}", f"end to end with Slurm {release}, in a Debian root made for it", 10,
               partial(slurm.Slurm, release)) for release in slurm.roots.SUITES),
)


def names():
    """The names that --long takes."""
    return [form.name for form in LONG_FORMS]


def describe():
    """A line for each, for --help."""
    return "\n".join(f"    {form.name:<11} {form.what}; about {form.minutes} minutes" for form in LONG_FORMS)


def unknown(wanted):
    """Those of `wanted` that are no names of ours."""
    return [name for name in wanted if name != ALL and name not in names()]


def stages_of(wanted, with_clusters=False):
    """The stages of the named long forms, each once, in the table's order; or only of those that start clusters."""
    chosen = [form for form in LONG_FORMS if ALL in wanted or form.name in wanted]
    return [form.make() for form in chosen if form.clusters or not with_clusters]
