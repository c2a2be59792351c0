#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One rank of a PyTorch program, for torch.sh: it knows nothing of Slurm or nccl-launch but torchrun's variables."""

import argparse
import os
import pathlib
import signal
import sys
import threading
import time

import torch
import torch.distributed as dist
from torch.distributed.elastic.multiprocessing.errors import record
from torch.nn.parallel import DistributedDataParallel

STEPS = 5
WIDTH = 64


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", choices=("nccl", "gloo"), default="nccl")
    parser.add_argument("--own-host", action="store_true", help="an NCCL_HOSTID per rank, so that ranks may share a GPU")
    parser.add_argument("--device-of-rank", action="store_true", help="take GPU LOCAL_RANK even if it is not there")
    parser.add_argument("--own-cpus", action="store_true", help="fail if two ranks may run on the same CPU")
    parser.add_argument("task", choices=("steps", "kill", "hang", "memory"))
    return parser.parse_args()


def choose_device(arguments):
    if arguments.backend == "gloo":
        return torch.device("cpu")
    local = int(os.environ["LOCAL_RANK"])
    device = torch.device("cuda", local if arguments.device_of_rank else local % torch.cuda.device_count())
    torch.cuda.set_device(device)
    return device


def check_sum(device):
    """all_reduce of a tensor of rank + 1; returns the sum."""
    size = dist.get_world_size()
    tensor = torch.full((1 << 20,), dist.get_rank() + 1.0, device=device)
    dist.all_reduce(tensor)
    expected = size * (size + 1) / 2
    if not bool((tensor == expected).all()):
        sys.exit(f"rank {dist.get_rank()}: all_reduce gave {tensor.min().item()}, expected {expected}")
    return expected


def make_model(device):
    torch.manual_seed(1)
    layers = (torch.nn.Linear(WIDTH, WIDTH), torch.nn.Tanh(), torch.nn.Linear(WIDTH, 1))
    return torch.nn.Sequential(*layers).to(device)


def make_batch(rank, device):
    generator = torch.Generator().manual_seed(100 + rank)
    inputs = torch.randn(32, WIDTH, generator=generator)
    return inputs.to(device), inputs.sum(dim=1, keepdim=True).to(device)


def train(model, batch):
    """Returns the first and the last loss."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(batch[0]), batch[1])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses[0], losses[-1]


def flat(model):
    return torch.cat([one.detach().flatten() for one in model.parameters()])


def check_ddp(device):
    """A few steps of DDP, against one process that has the data of all ranks; returns the losses of this rank."""
    rank = dist.get_rank()
    model = make_model(device)
    losses = train(DistributedDataParallel(model), make_batch(rank, device))
    all_of_them = [torch.empty_like(flat(model)) for _ in range(dist.get_world_size())]
    dist.all_gather(all_of_them, flat(model))
    if not all(torch.equal(one, flat(model)) for one in all_of_them):
        sys.exit(f"rank {rank}: the ranks' parameters differ after DDP")
    alone = make_model(device)
    batches = [make_batch(one, device) for one in range(dist.get_world_size())]
    train(alone, [torch.cat(parts) for parts in zip(*batches)])
    if not torch.allclose(flat(alone), flat(model), atol=1e-5):
        sys.exit(f"rank {rank}: DDP learnt something else than one process with all data")
    if not losses[1] < losses[0]:
        sys.exit(f"rank {rank}: loss {losses[0]} did not fall: {losses[1]}")
    return losses


def check_cpus():
    allowed = [None] * dist.get_world_size()
    dist.all_gather_object(allowed, os.sched_getaffinity(0))
    if len(set().union(*allowed)) != sum(map(len, allowed)):
        sys.exit(f"rank {dist.get_rank()}: the ranks share CPUs: {allowed}")


def where(device):
    parent = pathlib.Path(f"/proc/{os.getppid()}/comm").read_text(encoding="utf-8").strip()
    status = pathlib.Path("/proc/self/status").read_text(encoding="utf-8")
    cpus = [line.split()[1] for line in status.splitlines() if line.startswith("Cpus_allowed_list")]
    text = f"parent {parent}; CPUs {cpus[0]}; torch {torch.__version__}"
    if device.type == "cuda":
        text += f", NCCL {'.'.join(map(str, torch.cuda.nccl.version()))} on {torch.cuda.get_device_name(device)}"
    return text


def last_rank_does(device, what):
    """All but the last rank sit in an all_reduce that cannot end."""
    store = dist.distributed_c10d._get_default_store()
    if dist.get_rank() < dist.get_world_size() - 1:
        store.set("waits", "1")
        dist.all_reduce(torch.ones(1, device=device))
        if device.type == "cuda":
            torch.cuda.synchronize()
        return
    store.wait(["waits"])
    print(f"rank {dist.get_rank()}: {what.__name__} at {time.time():.3f}", flush=True)
    what()


def kill_itself():
    os.kill(os.getpid(), signal.SIGKILL)


def wait_for_ever():
    threading.Event().wait()


@record
def main():
    arguments = parse_arguments()
    if arguments.own_host:
        os.environ["NCCL_HOSTID"] = f"rank{os.environ['RANK']}"
    device = choose_device(arguments)
    dist.init_process_group(arguments.backend)
    total = check_sum(device)
    if arguments.task == "kill":
        last_rank_does(device, kill_itself)
    elif arguments.task == "hang":
        last_rank_does(device, wait_for_ever)
    elif arguments.task == "memory":
        torch.empty(1 << 50, dtype=torch.uint8, device=device)
    if arguments.own_cpus:
        check_cpus()
    losses = check_ddp(device)
    print(f"rank {dist.get_rank()} of {dist.get_world_size()}: all_reduce {total:g} right; {STEPS} DDP steps as one "
          f"process, loss {losses[0]:.3f} to {losses[1]:.3f}; {where(device)}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
