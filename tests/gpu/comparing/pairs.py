# SPDX-License-Identifier: Apache-2.0
"""Pairs of runs with the same flags: made on a GPU, kept, and compared, there and in later tests.

A pair lies in its folder as NAME.ours and NAME.theirs, its reports as NAME.ours.json and NAME.theirs.json. INDEX lists
the names.
"""
import time
from pathlib import Path

from comparing import flag_sets, masks, reports, runs
from comparing.runs import OURS, THEIRS

INDEX = "INDEX"


def path_of(folder, name, side):
    """Where a run is kept."""
    return Path(folder) / f"{name}.{side}"


def keep(folder, name, side, run):
    """Writes a run and its report."""
    path_of(folder, name, side).write_text(run.text(), encoding="utf-8", newline="")
    report = Path(f"{path_of(folder, name, side)}.json")
    if run.report:
        report.write_text(reports.without_environment(run.report), encoding="utf-8", newline="")
    elif report.exists():
        report.unlink()


def kept(folder, name, side):
    """A kept run. ValueError: it is none. OSError: it is not there."""
    path = path_of(folder, name, side)
    try:
        found = runs.from_text(path.read_bytes().decode())
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    report = Path(f"{path}.json")
    if report.exists():
        found.report = report.read_bytes().decode()
    return found


def _report_faults(ours, theirs):
    if not ours.report or not theirs.report:
        both = [name for name, run in ((OURS, ours), (THEIRS, theirs)) if run.report]
        return [f"report: written by {' and '.join(both) or 'neither'}"]
    texts = []
    for name, run in ((OURS, ours), (THEIRS, theirs)):
        try:
            texts.append(reports.forms(run.report, name == OURS))
        except ValueError as error:
            return [f"report of {name}: no JSON: {error}"]
    return [f"report: {line}" for line in masks.differences(*texts)]


def faults(flag_set, ours, theirs):
    """What is not as it should be in a pair, a line each; none when all that is not measured is the same."""
    out = []
    for name, run, expected in ((OURS, ours, flag_set.status[0]), (THEIRS, theirs, flag_set.status[1])):
        if run.status != expected:
            out.append(f"exit status of {name}: {run.status}, expected {expected}")
    if flag_set.status[0] == flag_sets.REFUSED and not ours.stderr.strip():
        out.append("ours refuses and says nothing on stderr")
    text, fault = masks.without_own_line(ours.stdout)
    if fault:
        out.append(fault)
    if not flag_set.stdout_may_differ:
        out += masks.differences(masks.mask(text), masks.mask(theirs.stdout))
        out += masks.definition_faults(text, theirs.stdout)
    if flag_set.has_report:
        out += _report_faults(ours, theirs)
    return out


def known():
    """The flag sets by name."""
    return {one.name: one for one in flag_sets.all_sets()}


def write_index(folder):
    """Lists the pairs that are there, in the order of the flag sets. Their names."""
    names = [name for name in known() if all(path_of(folder, name, side).exists() for side in (OURS, THEIRS))]
    (Path(folder) / INDEX).write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    return names


def read_index(folder):
    """The names of the kept pairs; none where there is no index."""
    path = Path(folder) / INDEX
    return path.read_text(encoding="utf-8").split() if path.exists() else []


def replay(folder, name):
    """The faults of a kept pair."""
    flag_set = known().get(name)
    if not flag_set:
        return [f"no flag set has the name {name}"]
    try:
        return faults(flag_set, kept(folder, name, OURS), kept(folder, name, THEIRS))
    except (OSError, ValueError) as error:
        return [str(error)]


def _make(machine, flag_set, folder):
    for side in (OURS, THEIRS):
        found = runs.run(machine, side, flag_set.collective, flag_set.flags, flag_set.ranks, flag_set.environment,
                         {flag_sets.MATRIX_FILE: flag_sets.MATRIX}, flag_sets.REPORT_FILE if flag_set.has_report else None)
        keep(folder, flag_set.name, side, found)


def make(machine, chosen, folder, seconds, again=False, say=print):
    """Runs the flag sets whose pairs are not there yet, as far as the time goes. Whether all are there and right."""
    deadline, left, wrong = time.monotonic() + seconds, [], []
    for flag_set in chosen:
        there = all(path_of(folder, flag_set.name, side).exists() for side in (OURS, THEIRS))
        if again or not there:
            if time.monotonic() >= deadline:
                left.append(flag_set.name)
                continue
            try:
                _make(machine, flag_set, folder)
            except runs.Missing as missing:
                say(f"{flag_set.name}: not run: {missing}")
                left.append(flag_set.name)
                continue
        found = replay(folder, flag_set.name)
        wrong += [flag_set.name] if found else []
        say(f"{flag_set.name}: {'DIFFERENT' if found else 'the same'}")
        for line in found:
            say(f"    {line}")
    names = write_index(folder)
    say(f"{len(names)} pairs kept in {folder}; {len(wrong)} of {len(chosen) - len(left)} looked at differ"
        + (f"; not run yet: {' '.join(left)}" if left else ""))
    return not wrong and not left
