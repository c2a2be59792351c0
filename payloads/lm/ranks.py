# SPDX-License-Identifier: Apache-2.0
"""Which rank this process is, from the variables that nccl-launch sets (docs/ranks.md). Imports nothing."""
from dataclasses import dataclass

from lm.problem import WRONG_USE, Problem

NEEDED = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
LARGEST = 1 << 20
HOW = "start it as: srun --mpi=pmix nccl-launch -- python3 train_lm.py ..."


@dataclass(frozen=True)
class Ranks:
    """Rank and size of the whole, rank on the node, where rank 0 listens. `launched`: whether a launcher said so."""

    rank: int = 0
    size: int = 1
    local_rank: int = 0
    address: str = ""
    port: int = 0
    launched: bool = False


def number(environment, name, least, most, default=None):
    """A whole number of the environment; Problem when it is none or outside least..most."""
    text = environment.get(name, default)
    if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
        raise Problem(f'{name}: got "{text}", expected a number from {least} to {most}; {HOW}', WRONG_USE)
    return int(text)


def read(environment):
    """Ranks of a mapping of variables. Without any of NEEDED: a single process.

    Problem where some are missing or wrong, and where srun started several tasks without a launcher: each would train
    alone and write the same files."""
    missing = [name for name in NEEDED if not environment.get(name)]
    if len(missing) == len(NEEDED):
        tasks = environment.get("SLURM_STEP_NUM_TASKS", "1")
        if tasks != "1":
            raise Problem(f"RANK: not set in a step of {tasks} tasks, so that each would train alone; {HOW}", WRONG_USE)
        return Ranks()
    if missing:
        raise Problem(f"{missing[0]}: not set, but {', '.join(set_ones(environment))}; expected all of {', '.join(NEEDED)}; {HOW}",
                      WRONG_USE)
    size = number(environment, "WORLD_SIZE", 1, LARGEST)
    return Ranks(rank=number(environment, "RANK", 0, size - 1), size=size,
                 local_rank=number(environment, "LOCAL_RANK", 0, LARGEST, "0"), address=environment["MASTER_ADDR"],
                 port=number(environment, "MASTER_PORT", 1, 65535), launched=True)


def set_ones(environment):
    """What is set of NEEDED, as NAME=VALUE."""
    return [f"{name}={environment[name]}" for name in NEEDED if environment.get(name)]
