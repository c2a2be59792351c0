#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nccl-bench beside nccl-tests on a machine with an NVIDIA GPU. See README.md beside it.

  tests/gpu/compare.py list                            the flag sets
  tests/gpu/compare.py pairs [NAME]... [--again]       the same output? NAME: only these, or a pattern such as '*-2'
  tests/gpu/compare.py time [COLLECTIVE]... --ranks N  the same times? N: 1 or 2
  tests/gpu/compare.py adaptive [COLLECTIVE]...        what --adaptive costs beside a larger -n
  tests/gpu/compare.py replay                          compares the kept pairs again; needs no GPU

What is there already is not run again; each call ends after about --seconds and the next one goes on. Ends with 0 when
all was done and is as it should be, 1 when not, 2 when something is missing on this machine.
"""
import argparse
import fnmatch
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from comparing import adaptive, flag_sets, pairs, runs, timing  # noqa: E402

FOLDER = Path(__file__).resolve().parent / "logs/compare"


def _parse(words):
    parser = argparse.ArgumentParser(prog="tests/gpu/compare.py", usage=__doc__, allow_abbrev=False)
    parser.add_argument("what", choices=("list", "pairs", "time", "adaptive", "replay"))
    parser.add_argument("names", nargs="*")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--ranks", type=int, choices=(1, 2), default=1)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=440)
    parser.add_argument("--out", type=Path, default=FOLDER)
    return parser.parse_intermixed_args(words)


def chosen_sets(names):
    """The flag sets that the names and patterns mean. ValueError: one means none."""
    if not names:
        return flag_sets.all_sets()
    for name in names:
        if not fnmatch.filter(pairs.known(), name):
            raise ValueError(f'no flag set is called "{name}": compare.py list shows them')
    return [one for one in flag_sets.all_sets() if any(fnmatch.fnmatchcase(one.name, name) for name in names)]


def chosen_collectives(names):
    """The collectives to time. ValueError: one is unknown."""
    for name in names:
        if name not in flag_sets.COLLECTIVES:
            raise ValueError(f'unknown collective: got "{name}", expected {", ".join(flag_sets.COLLECTIVES)}')
    return names or timing.COLLECTIVES


def _context(machine):
    gpu = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True,
                         text=True, check=False).stdout.strip()
    probe = runs.run(machine, runs.THEIRS, "all_reduce", "-b 8 -e 8 -n 1")
    release = re.search(r"nccl-library=(\d+)", probe.stdout)
    if not gpu or not release:
        raise runs.Missing(f"nvidia-smi shows no GPU, or nccl-tests does not start:\n{probe.text()}")
    return {"gpu": gpu, "nccl": int(release[1])}


def _list():
    for one in flag_sets.all_sets():
        variables = "".join(f"{name}={value} " for name, value in one.environment)
        print(f"{one.name:24} {one.ranks}  {variables}{one.collective}_perf {one.flags}")
    return True


def _replay(folder):
    names, good = pairs.read_index(folder), True
    for name in names:
        found = pairs.replay(folder, name)
        good = good and not found
        for line in found:
            print(f"{name}: {line}")
    print(f"{len(names)} pairs in {folder}")
    return good and bool(names)


def _run(options):
    if options.what == "list":
        return _list()
    if options.what == "replay":
        return _replay(options.out)
    chosen = chosen_sets(options.names) if options.what == "pairs" else chosen_collectives(options.names)
    machine = runs.find_machine()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.what == "pairs":
        return pairs.make(machine, chosen, options.out, options.seconds, options.again)
    if options.what == "time":
        return timing.measure(machine, chosen, options.ranks, options.rounds, options.out, options.seconds,
                              _context(machine))
    return adaptive.measure(machine, chosen if options.names else chosen[:1], options.out, options.seconds, _context(machine))


def main(words):
    """The command line above."""
    options = _parse(words)
    try:
        return 0 if _run(options) else 1
    except (runs.Missing, ValueError) as error:
        print(f"tests/gpu/compare.py: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
