#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets the real NCCL judge which interface it takes for bootstrap. Needs no GPU.

  judge_interfaces.py table PROBE [TABLE] [--nccl LIBNCCL]      every row of interface_vectors.txt
  judge_interfaces.py machines PROBE ANSWERS [--nccl LIBNCCL]   every captured machine, with our variables and without

PROBE is the program bootstrap_probe, ANSWERS what model_answers printed. Prints a line for each question; ends with 1
when NCCL's answer is another than expected, with 3 when NCCL is not installed.
"""

import argparse
import functools
import json
import multiprocessing
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import netns
import table
from embedded_cluster import capture  # netns.py has set the path

HERE = Path(__file__).resolve().parent
HOSTS = HERE.parent / "hosts"
# No /root/.nccl.conf of the machine that this runs on.
CLEAN = {"PATH": os.environ.get("PATH", "/usr/sbin:/usr/bin:/sbin:/bin"), "HOME": "/proc/nonexistent"}


@dataclass
class Question:
    """Interfaces and variables, and what NCCL must take: "eth0 10.0.0.5", or "eth0", or "nothing"."""

    what: str
    interfaces: list
    variables: dict
    expected: str


def read_table(text, version):
    """The questions of the rows that hold for this version."""
    return [Question(f"line {number}: {interfaces} | {variables}", netns.parse(interfaces), table.variables(variables),
                     expected) for number, interfaces, variables, expected in table.rows(text, 4, version)]


def of_machines(answers):
    """Two questions for each machine: without any variable, and with all of NCCL's that we set."""
    found = []
    for machine in answers:
        interfaces = netns.of_capture(capture.read(HOSTS / f"{machine['name']}.capture"))
        found.append(Question(f"{machine['name']} without", interfaces, {}, machine["without"]["interface"] or "nothing"))
        ours = machine["set"].get("NCCL_SOCKET_IFNAME")
        expected = ours.removeprefix("=") if ours else machine["with"]["interface"] or "nothing"
        found.append(Question(f"{machine['name']} with", interfaces, machine["set"], expected))
    return found


def ask(probe, questions):
    """What NCCL takes there, for each of some questions about the same interfaces: "eth0 10.0.0.5", "nothing", or what
    went wrong before it was asked."""
    answers = []
    for status, text in netns.run(questions[0].interfaces, [(probe, CLEAN | one.variables) for one in questions]):
        words = text.strip().split(" ")
        failed = "nothing" if status == 1 else f"no answer, status {status}: {text.strip()}"
        answers.append(" ".join(words[-2:]) if status == 0 else failed)
    return answers


def is_right(got, expected):
    """An expected name alone leaves the address open."""
    return expected in (got, got.partition(" ")[0])


def judge(probe, questions):
    """Asks all; prints a line for each and the sum. True when all are as expected."""
    groups = {}
    for question in questions:
        groups.setdefault(repr(question.interfaces), []).append(question)
    with multiprocessing.Pool() as pool:
        found = pool.map(functools.partial(ask, probe), groups.values())
    answers = [(question, got) for asked, answered in zip(groups.values(), found) for question, got in zip(asked, answered)]
    right = 0
    for question, got in answers:
        good = is_right(got, question.expected)
        right += good
        print(f"{'ok  ' if good else 'DIFF'} {question.what} -> {got}" + ("" if good else f", expected {question.expected}"))
    print(f"{right} of {len(questions)} as expected")
    return right == len(questions) > 0


def installed(probe):
    """The version of NCCL; ends this program when there is none."""
    done = subprocess.run(probe, env=CLEAN, text=True, capture_output=True, check=False)
    if done.returncode not in (0, 1):
        print(done.stderr.strip(), file=sys.stderr)
        sys.exit(done.returncode)
    return done.stdout.split(" ")[1]


def main(words):
    """The command line."""
    parser = argparse.ArgumentParser(prog="judge_interfaces.py", usage=__doc__, allow_abbrev=False)
    parser.add_argument("what", choices=("table", "machines"))
    parser.add_argument("probe")
    parser.add_argument("file", nargs="?")
    parser.add_argument("--nccl")
    options = parser.parse_args(words)
    if options.what == "machines" and not options.file:
        parser.error("ANSWERS: got none")
    probe = [options.probe] + ([options.nccl] if options.nccl else [])
    version = installed(probe)
    print(f"NCCL {version}")
    text = Path(options.file or HERE / "interface_vectors.txt").read_text(encoding="utf-8")
    questions = of_machines(json.loads(text)) if options.what == "machines" else read_table(text, table.release(version))
    return 0 if judge(probe, questions) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
