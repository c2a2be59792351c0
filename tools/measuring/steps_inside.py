#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs on the login node of an embedded cluster: what the plugin costs a step. Prints JSON.

  steps_inside.py PAIRS NODES TASKS

Each round runs the same step in every variant, in an order drawn anew: with an empty plugstack.conf.d twice (their
difference is what the measuring itself makes), with the plugin not asked for, turned off, and tuning. Wall time of srun,
its own CPU, and the CPU of all slurmstepd of a node with what they started, as that node's init has it when they are
gone."""
import json
import os
import random
import resource
import subprocess
import sys
import time

DROP_IN = "/run/cluster/conf/plugstack.conf.d/nccl_tune.conf"
VARIANTS = {"empty": (False, None), "empty again": (False, None), "not asked": (True, None), "off": (True, "off"), "on": (True, "auto")}
TICKS = os.sysconf("SC_CLK_TCK")


def init_of(node):
    """The pid, here, of a node's init: it is named like the node."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/comm", encoding="ascii") as file:
                if file.read().strip() == node:
                    return int(pid)
        except OSError:
            continue
    raise SystemExit(f"steps_inside.py: no init of {node}")


def reaped_seconds(pid):
    """CPU of all that this process has waited for."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[13]) + int(fields[14])) / TICKS


def daemons_left():
    """Whether a slurmstepd is still there."""
    return subprocess.run(["pidof", "slurmstepd"], stdout=subprocess.DEVNULL, check=False).returncode == 0


def run_step(option, nodes, tasks):
    """Wall seconds and CPU seconds of srun."""
    words = ["srun", f"-N{nodes}", f"--ntasks-per-node={tasks}", *([f"--nccl-tune={option}"] if option else []), "true"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.monotonic()
    subprocess.run(words, check=True)
    wall = time.monotonic() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(pairs, nodes, tasks):
    """All rounds."""
    with open(DROP_IN, encoding="utf-8") as file:
        line = file.read()
    init = init_of("server1")
    out = {name: {"wall": [], "srun": [], "node": []} for name in VARIANTS}
    for _ in range(pairs):
        order = list(VARIANTS)
        random.shuffle(order)
        for name in order:
            loaded, option = VARIANTS[name]
            with open(DROP_IN, "w", encoding="utf-8") as file:
                file.write(line if loaded else "")
            before = reaped_seconds(init)
            wall, cpu = run_step(option, nodes, tasks)
            while daemons_left():
                time.sleep(0.005)
            out[name]["wall"].append(wall)
            out[name]["srun"].append(cpu)
            out[name]["node"].append(reaped_seconds(init) - before)
    with open(DROP_IN, "w", encoding="utf-8") as file:
        file.write(line)
    json.dump(out, sys.stdout)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]))
