#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs on the login node of an embedded cluster: from srun's start to the end of PyTorch's first collective on the last
rank, in seconds. Prints JSON; null is a run in which not every rank printed the right sum.

  torch_inside.py ROUNDS NODES RANKS_PER_NODE

Each round runs all variants in an order drawn anew, with the same environment."""
import json
import os
import random
import re
import subprocess
import sys
import time

PROGRAM = ("/usr/bin/python3", "/run/cluster/bin/first_collective.py")
# USE_LIBUV is for the PyTorch of Debian 13, which asks for it and is built without.
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "eno1", "USE_LIBUV": "0"}
PATIENCE = 120.0


def by_launcher(nodes, ranks, _):
    """One task per rank."""
    return ("srun", f"-N{nodes}", f"--ntasks-per-node={ranks}", "--mpi=pmix", "nccl-launch", "--", *PROGRAM)


def by_torchrun(nodes, ranks, number):
    """One task per node. Debian 12's torchrun dies with its default redirection under Python 3.11."""
    return ("srun", f"-N{nodes}", "--ntasks-per-node=1", "torchrun", f"--nnodes={nodes}", f"--nproc_per_node={ranks}",
            "--rdzv_backend=c10d", "--rdzv_endpoint=server1:29400", f"--rdzv_id={number}", "--redirects=1:1", "--tee=1:1",
            PROGRAM[1])


VARIANTS = {"nccl-launch": by_launcher, "nccl-launch again": by_launcher, "torchrun": by_torchrun}


def seconds_to_first(words, ranks):
    """Seconds, or None. Whole is a run in which each rank said its line once, whatever stands before it."""
    started = time.monotonic()
    try:
        run = subprocess.run(words, env=os.environ | ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                             check=False, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return None
    said = {int(rank): float(when) for rank, when in re.findall(r"first: rank (\d+) ([0-9.]+)$", run.stdout, re.MULTILINE)}
    return max(said.values()) - started if set(said) == set(range(ranks)) else None


def main(rounds, nodes, ranks):
    """All rounds, after one that reads the files from the disk."""
    rows = {name: [] for name in VARIANTS}
    for number in range(rounds + 1):
        order = list(VARIANTS)
        random.shuffle(order)
        for name in order:
            while subprocess.run(["pidof", "slurmstepd"], stdout=subprocess.DEVNULL, check=False).returncode == 0:
                time.sleep(0.01)
            seconds = seconds_to_first(VARIANTS[name](nodes, ranks, number), nodes * ranks)
            if number:
                rows[name].append(seconds)
    json.dump(rows, sys.stdout)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]))
