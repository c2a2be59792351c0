#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs on the login node of an embedded cluster, in a job on all its nodes: all_reduce by nccl-bench's mpi backend, and by
a plain loop of MPI_Allreduce. Prints JSON.

  bench_inside.py PAIRS NODES SEED [--short]

The settings for Open MPI that nccl-bench chooses there are given to every run, and the interface among them is shaped on
each node. Each pair runs nccl-bench, the loop and the loop once more, in an order drawn anew from the seed, for each sweep;
a time is microseconds of one call, out of place and in place. --short: few iterations, nothing shaped."""
import json
import os
import random
import re
import subprocess
import sys
import time

STEP = ("srun", "--mpi=pmix", "--kill-on-bad-exit")
LIMIT = ("rate", "1gbit", "burst", "512kb", "latency", "50ms")
INTERFACE = "OMPI_MCA_btl_tcp_if_include"
# First and last size, factor, iterations: in each sweep a call's time is of one order, and a block's well over its barriers'.
SWEEPS = ((8, 1024, 128, 1000), (65536, 1048576, 16, 40), (8388608, 33554432, 4, 3))
SHORT = ((8, 1024, 128, 20), (65536, 1048576, 16, 2))
ALONE = (8, 8, 2, 1000000)  # one rank, no network: nothing but the frame around MPI's call
# Open MPI 4.1 crashes in MPI_Init now and then, when another rank's first message comes before it is ready (open-mpi/ompi
# issue 12495): such a run is done again.
CRASH = "Segmentation fault"
TRIES = 4
PATIENCE = 120.0


def by_bench(sweep):
    """Its words. The same warm-up as the loop's is its default."""
    first, last, factor, iterations = map(str, sweep)
    return ("nccl-bench", "all_reduce", "--backend", "mpi", "-b", first, "-e", last, "-f", factor, "-n", iterations)


def by_loop(sweep):
    """Its words."""
    return ("mpi_loop", *map(str, sweep))


VARIANTS = {"nccl-bench": by_bench, "loop": by_loop, "loop again": by_loop}


def fail(text):
    """Ends the script."""
    raise SystemExit(f"bench_inside.py: {text}")


def settings_in(text):
    """The variables that nccl-bench says it sets."""
    return dict(re.findall(r"^nccl-bench: set (OMPI_MCA_\w+)=(\S*): ", text, re.MULTILINE))


def rows_in(text):
    """Size -> (microseconds out of place, in place, wrong elements), of nccl-bench's table or of the loop's lines."""
    rows = {}
    for words in map(str.split, text.splitlines()):
        if len(words) == 13 and words[0].isdigit():
            rows[int(words[0])] = (float(words[5]), float(words[9]), int(words[8]) + int(words[12]))
        elif len(words) == 4 and words[0].isdigit():
            rows[int(words[0])] = (float(words[1]), float(words[2]), int(words[3]))
    return rows


def sizes_of(sweep):
    """The sizes that a sweep measures."""
    first, last, factor, _ = sweep
    sizes = []
    while first <= last:
        sizes.append(first)
        first *= factor
    return sizes


class Cluster:
    """Runs steps, with the settings for Open MPI once they are known."""

    def __init__(self, nodes):
        self.nodes, self.environment, self.repeated = nodes, dict(os.environ), 0

    def step(self, words, nodes, *options):
        """Output and errors of a step that ends well."""
        while subprocess.run(["pidof", "slurmstepd"], stdout=subprocess.DEVNULL, check=False).returncode == 0:
            time.sleep(0.005)  # those of the last step
        command = [*STEP, f"-N{nodes}", f"-n{nodes}", *options, *words]
        for _ in range(TRIES):
            try:
                run = subprocess.run(command, env=self.environment, timeout=PATIENCE, stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, text=True, check=False)
            except subprocess.TimeoutExpired:
                return fail(f"{' '.join(command)} did not end in {PATIENCE:.0f} s")
            if run.returncode == 0:
                return run.stdout, run.stderr
            if CRASH not in run.stdout + run.stderr:
                break
            self.repeated += 1
        return fail(f"{' '.join(command)} ended with {run.returncode}: {run.stdout}{run.stderr}")

    def settle(self):
        """Takes over what nccl-bench would set, so that it sets nothing more."""
        words = by_bench((8, 8, 2, 1))
        settings = settings_in(self.step(words, self.nodes, "--nccl-tune")[1])
        if INTERFACE not in settings:
            fail(f"nccl-bench set no {INTERFACE}, but {settings}")
        self.environment |= settings
        more = settings_in(self.step(words, self.nodes)[1])
        if more:
            fail(f"nccl-bench still sets {more}")
        return settings

    def measure(self, name, sweep, nodes):
        """The rows of one run, each size there and every element right."""
        text = self.step(VARIANTS[name](sweep), nodes)[0]
        rows = rows_in(text)
        if sorted(rows) != sizes_of(sweep):
            fail(f"{name} printed not the sizes of {sweep}: {text}")
        if any(row[2] for row in rows.values()):
            fail(f"{name} has wrong sums: {text}")
        return {size: row[:2] for size, row in rows.items()}


def main(pairs, nodes, seed, short):
    """All pairs, after one that reads the files from the disk."""
    cluster, draw = Cluster(nodes), random.Random(seed)
    settings = cluster.settle()
    if not short:
        cluster.step(("tc", "qdisc", "replace", "dev", settings[INTERFACE], "root", "tbf", *LIMIT), nodes)
    plans = [(sweep, nodes) for sweep in (SHORT if short else SWEEPS)] + [(ALONE, 1)]
    rows = {str(ranks): {name: {} for name in VARIANTS} for _, ranks in plans}
    for number in range(1 if short else 0, pairs + 1):
        for sweep, ranks in plans:
            order = list(VARIANTS)
            draw.shuffle(order)
            for name in order:
                for size, times in cluster.measure(name, sweep, ranks).items():
                    if number:
                        rows[str(ranks)][name].setdefault(str(size), []).append(times)
    json.dump({"settings": settings, "repeated": cluster.repeated, "together": rows[str(nodes)], "alone": rows["1"]}, sys.stdout)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]), sys.argv[4:] == ["--short"])
