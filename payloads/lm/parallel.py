# SPDX-License-Identifier: Apache-2.0
"""One model on all ranks: alone, by DDP, or in shards by FSDP; and how long its gradients were on the way."""
import contextlib
import inspect
import time
from functools import partial

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from lm import metrics
from lm.model import layer_class
from lm.problem import WRONG_USE, Problem

FSDP_SINCE = (2, 2)  # torch.distributed.checkpoint.state_dict, which writes and reads its shards


def version(text):
    """(major, minor) of torch.__version__."""
    return tuple(int(part) for part in text.split(".")[:2])


def kind_of(wanted, ranks, torch_version):
    """"alone", "ddp" or "fsdp" for --parallel. Problem where this torch has no FSDP that we use."""
    if wanted == "fsdp":
        if version(torch_version) < FSDP_SINCE:
            raise Problem(f"--parallel fsdp: torch is {torch_version}, expected 2.2 or newer; leave it out for DDP, or start with the "
                          "python3 of an environment that has one", WRONG_USE)
        return "fsdp"
    return "ddp" if ranks.launched else "alone"


class Communication:
    """Intervals in which all-reduces of gradients were on the way, by DDP's hook: from the moment a bucket is ready to that in
    which its sum is there, so the wait for a slower rank is in it. In host memory only: on a GPU the host does not see the end."""

    def __init__(self):
        self._intervals = []

    def hook(self, size, bucket):
        """DDP's own all-reduce, with a clock."""
        begin = time.perf_counter()
        future = dist.all_reduce(bucket.buffer().div_(size), async_op=True).get_future()

        def done(finished):
            self._intervals.append((begin, time.perf_counter()))
            return finished.value()[0]
        return future.then(done)

    def take(self):
        """Seconds since the last call."""
        taken, self._intervals = self._intervals, []
        return metrics.covered(taken)


class Parallel:
    """A model ready to train. `module`: call this; `inner`: its own parameters, as without ranks."""

    def __init__(self, model, kind, world, precision, with_compile):
        self.kind, self.inner, self.communication = kind, model.to(world.device), None
        self.layout = "sharded" if kind == "fsdp" else "whole"
        self._cast = {}
        if precision == "bf16" and kind != "fsdp":
            self._cast = {"device_type": world.device.type, "dtype": torch.bfloat16}
        self.module = self._sharded(world, precision) if kind == "fsdp" else self.inner
        if with_compile:
            self.module = torch.compile(self.module)
        if kind == "ddp":
            device = [world.device.index] if world.device.type == "cuda" else None
            self.module = DistributedDataParallel(self.module, device_ids=device, process_group=world.gradients)
            if device is None and world.size > 1:
                self.communication = Communication()
                self.module.register_comm_hook(world.size, self.communication.hook)

    def _sharded(self, world, precision):
        from torch.distributed import fsdp  # pylint: disable=import-outside-toplevel
        from torch.distributed.fsdp import wrap  # pylint: disable=import-outside-toplevel
        layers = layer_class(self.inner)
        policy = partial(wrap.transformer_auto_wrap_policy, transformer_layer_cls={layers}) if layers else None
        mixed = fsdp.MixedPrecision(param_dtype=torch.bfloat16, reduce_dtype=torch.float32) if precision == "bf16" else None
        return fsdp.FullyShardedDataParallel(self.inner, auto_wrap_policy=policy, mixed_precision=mixed, use_orig_params=True,
                                             process_group=world.gradients, device_id=world.device)

    def cast(self):
        """In it a forward pass is computed in the chosen precision."""
        return torch.autocast(**self._cast) if self._cast else contextlib.nullcontext()

    def accumulate(self, is_last):
        """In it gradients stay on the rank, but for the last micro-batch of a step."""
        return contextlib.nullcontext() if is_last or self.kind == "alone" else self.module.no_sync()

    def clip(self, most):
        """Scales all gradients down to that norm together; returns the norm before."""
        if self.kind == "fsdp":
            return float(self.module.clip_grad_norm_(most))
        return float(torch.nn.utils.clip_grad_norm_(self.inner.parameters(), most))


@contextlib.contextmanager
def profiled(found):
    """Appends to `found` the seconds in which NCCL's kernels ran on this rank's GPU while the with-block ran."""
    # Newer ones keep events only when told to, and say so on each use.
    keep = {"acc_events": True} if "acc_events" in inspect.signature(torch.profiler.profile.__init__).parameters else {}
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities, **keep) as profiler:
        yield
        torch.cuda.synchronize()
    found.append(metrics.covered([(event.time_range.start / 1e6, event.time_range.end / 1e6) for event in profiler.events()
                                  if event.device_type == torch.autograd.DeviceType.CUDA and "nccl" in event.name.lower()]))
