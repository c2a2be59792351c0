#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A small training with PyTorch over gloo, which knows of its launcher only what PyTorch itself reads.

Prints for each rank "ddp: rank R of N: WORD" lines: `sum right`, `trained`, `as alone` (rank 0: one process with the whole
batch comes to the same parameters). Ends with 1 when one does not hold."""
import os
import sys

import torch
import torch.distributed as dist
from torch.distributed.elastic.multiprocessing.errors import record
from torch.nn.parallel import DistributedDataParallel

SEED, STEPS, PER_RANK, FEATURES = 7, 5, 8, 16


def network():
    """The same on every rank."""
    torch.manual_seed(SEED)
    return torch.nn.Sequential(torch.nn.Linear(FEATURES, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))


def batch(ranks):
    """Inputs and targets of all ranks."""
    source = torch.Generator().manual_seed(SEED)
    inputs = torch.randn(ranks * PER_RANK, FEATURES, generator=source)
    return inputs, inputs.sum(dim=1, keepdim=True)


def train(model, inputs, targets):
    """All parameters, in one tensor, after some steps."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(STEPS):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(inputs), targets).backward()
        optimizer.step()
    return flat(model)


def flat(model):
    """All parameters in one tensor."""
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def sum_is_right(rank, ranks):
    """Whether all_reduce adds up what each rank gave."""
    given = torch.arange(1000, dtype=torch.float64) + rank
    dist.all_reduce(given)
    return torch.equal(given, ranks * torch.arange(1000, dtype=torch.float64) + ranks * (ranks - 1) / 2)


def all_have(parameters, ranks):
    """Whether every rank ended with these parameters, to the bit."""
    others = [torch.empty_like(parameters) for _ in range(ranks)]
    dist.all_gather(others, parameters)
    return all(torch.equal(parameters, other) for other in others)


def say(rank, ranks, word):
    """One line in one write, so that no other rank's is in it."""
    os.write(1, f"ddp: rank {rank} of {ranks}: {word}\n".encode())


@record  # as programs for torchrun have it; without its variables it changes nothing
def main():
    """Returns the exit status."""
    dist.init_process_group("gloo", init_method="env://")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    say(rank, ranks, f"elastic {dist.is_torchelastic_launched()} local {os.environ['LOCAL_RANK']}/{os.environ['LOCAL_WORLD_SIZE']} "
                     f"group {os.environ['GROUP_RANK']}")
    checks = {"sum right": sum_is_right(rank, ranks)}
    inputs, targets = batch(ranks)
    own = slice(rank * PER_RANK, (rank + 1) * PER_RANK)
    parameters = train(DistributedDataParallel(network()), inputs[own], targets[own])
    checks["trained"] = all_have(parameters, ranks) and not torch.allclose(parameters, flat(network()), atol=1e-3)
    if rank == 0:
        checks["as alone"] = torch.allclose(parameters, train(network(), inputs, targets), rtol=1e-4, atol=1e-6)
    for word, holds in checks.items():
        say(rank, ranks, word if holds else f"NOT {word}")
    dist.barrier()
    dist.destroy_process_group()
    return 0 if all(checks.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
