# SPDX-License-Identifier: Apache-2.0
"""From options to what is trained: precision, model, text, optimizer. All raise Problem, the same on every rank."""
from dataclasses import dataclass

import torch

from lm import checkpoint_files as files
from lm import data, metrics
from lm import model as models
from lm import options as command_line
from lm.parallel import Parallel
from lm.problem import WRONG_USE, Problem

BETAS = (0.9, 0.95)  # of AdamW, as is usual for language models


@dataclass(frozen=True)
class Training:
    """All that a run works on. `about`: what a checkpoint must be of."""

    described: models.Described
    text: data.Text
    parallel: Parallel
    optimizer: torch.optim.Optimizer
    precision: str
    peak: float  # Tflop/s of a rank, or None
    token_flops: int
    parameters: int
    about: dict


def choose_precision(wanted, device):
    """bf16, float32 or float64 for --precision."""
    has_bf16 = device.type == "cuda" and torch.cuda.is_bf16_supported()
    if wanted == "bf16" and not has_bf16:
        what = torch.cuda.get_device_name(device) if device.type == "cuda" else "a processor"
        raise Problem(f"--precision bf16: needs a GPU that has it, got {what}; expected float32", WRONG_USE)
    return wanted if wanted != "auto" else "bf16" if has_bf16 else "float32"


def make_model(options):
    """The model that the options name, in float32 on the host."""
    if options.model:
        return models.of_folder(options.model, options.context)
    return models.own(options.layers, options.heads, options.width, options.context, options.dropout, options.seed)


def check_same(world, what, value):
    """Problem where a rank has another value than rank 0."""
    all_have = world.gather(value)
    odd = [rank for rank, one in enumerate(all_have) if one != all_have[0]]
    if odd:
        raise Problem(f"{what}: is {all_have[odd[0]]}, but {all_have[0]} on rank 0; expected the same on all nodes", WRONG_USE, rank=odd[0])


def make_optimizer(model, shrinking, options):
    """AdamW; the weights of matrices (`shrinking`: their names) decay, norms and biases do not."""
    parameters = [(name.replace("_fsdp_wrapped_module.", "").replace("_orig_mod.", ""), one) for name, one in model.named_parameters()]
    groups = [{"params": [one for name, one in parameters if (name in shrinking) == which], "weight_decay": decay}
              for which, decay in ((True, options.weight_decay), (False, 0.0))]
    return torch.optim.AdamW([group for group in groups if group["params"]], lr=options.lr, betas=BETAS)


def prepare(options, world, kind):
    """The Training of these options over these ranks."""
    command_line.check_batch(options, world.size)
    check_same(world, "command line", vars(options))
    precision = world.agree(lambda: choose_precision(options.precision, world.device))
    described = world.agree(lambda: make_model(options))
    text = world.agree(lambda: data.Text(data.read(options.data), described.tokenizer, options.context, options.eval_share))
    check_same(world, "--data", text.about())
    model = described.model.double() if precision == "float64" else described.model
    parameters = sum(one.numel() for one in model.parameters())  # counted before it is in shards
    shrinking = {name for name, one in model.named_parameters() if one.dim() > 1}
    parallel = Parallel(model, kind, world, precision, options.compile)
    gpu = torch.cuda.get_device_name(world.device) if world.device.type == "cuda" else None
    return Training(described, text, parallel, make_optimizer(parallel.module if kind == "fsdp" else parallel.inner, shrinking, options),
                    precision, metrics.peak_tflops(options.peak_tflops, gpu, precision),
                    metrics.flops_of_token(parameters - described.looked_up, described.layers, described.width, options.context), parameters,
                    {"model": described.settings, "data": text.about(), "layout": parallel.layout})


def changed_since(about, options):
    """In which options that shape the curve a checkpoint differs from these."""
    return files.differences(about["training"], command_line.about_training(options))
