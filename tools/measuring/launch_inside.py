#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs on the login node of an embedded cluster, in a job of its own: what a launcher costs a start. Prints JSON.

  launch_inside.py ROUNDS RANKS

Each round starts a program in every variant, in an order drawn anew; the floor is there twice, which shows what the
measuring itself makes. The program prints the time and ends (of one that prints nothing, srun's end was seen in steps of
50 ms). "begin" is when the last rank's program was there, as all nodes share one clock; "wall" is srun's end. Then, what
is left of a launcher while its program runs."""
import json
import os
import random
import subprocess
import sys
import time

STEP = ("srun", "--mpi=pmix")
PROGRAM = ("date", "+%s.%N")
# Words before the program. "exec": nothing compared, no parent. "default": what a user gets without options.
VARIANTS = {
    "srun": (),
    "floor": ("pmix_floor",),
    "floor again": ("pmix_floor",),
    "exec": ("nccl-launch", "--exec", "--preflight=off", "--"),
    "default": ("nccl-launch", "--"),
}
LAUNCHER = "nccl-launch"
PATIENCE = 60.0


def processes(name):
    """The pids, here, of the processes of that name on all nodes."""
    out = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/comm", encoding="ascii") as file:
                if file.read().strip() == name:
                    out.append(int(pid))
        except OSError:
            continue
    return out


def wait_until(holds, what):
    """Ends the script when something does not come."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > deadline:
            raise SystemExit(f"launch_inside.py: not within {PATIENCE:.0f} s: {what}")
        time.sleep(0.005)


def one_step(words, ranks):
    """Seconds to the program of the last rank, and to srun's end."""
    wait_until(lambda: not step_daemons(), "the end of the last step's daemons")
    started = time.time()
    run = subprocess.run([*STEP, *words, *PROGRAM], check=True, timeout=PATIENCE, stdout=subprocess.PIPE, text=True)
    ended = time.time()
    begun = [float(line) for line in run.stdout.split()]
    if len(begun) != ranks:
        raise SystemExit(f"launch_inside.py: expected {ranks} times, got {run.stdout}")
    return {"begin": max(begun) - started, "wall": ended - started}


def step_daemons():
    """Those of steps; salloc's job has none of its own."""
    return processes("slurmstepd")


def kib(path, key):
    """One value of a file of /proc."""
    with open(path, encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(key + ":"))


def what_stays(words, ranks):
    """Memory of each process of the launcher while its program sleeps."""
    step = subprocess.Popen([*STEP, *words, "sleep", "600"])
    try:
        wait_until(lambda: len(processes("sleep")) == ranks, f"{ranks} ranks")
        return [{"rss_kib": kib(f"/proc/{pid}/status", "VmRSS"), "pss_kib": kib(f"/proc/{pid}/smaps_rollup", "Pss")}
                for pid in processes(LAUNCHER)]
    finally:
        step.terminate()
        step.wait()
        wait_until(lambda: not step_daemons(), "the end of the step")


def main(rounds, ranks):
    """All rounds."""
    rows = {name: {"begin": [], "wall": []} for name in VARIANTS}
    for number in range(rounds + 1):
        order = list(VARIANTS)
        random.shuffle(order)
        for name in order:
            for what, seconds in one_step(VARIANTS[name], ranks).items():
                if number:  # the first of each reads its files from the disk
                    rows[name][what].append(seconds)
    stays = {name: what_stays(VARIANTS[name], ranks) for name in ("exec", "default")}
    json.dump({"rows": rows, "stays": stays}, sys.stdout)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
