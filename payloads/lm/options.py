# SPDX-License-Identifier: Apache-2.0
"""The command line of train_lm.py, checked; imports nothing heavy."""
import argparse
import math
from difflib import get_close_matches

from lm.problem import WRONG_USE, Problem

DESCRIPTION = """Trains a causal language model over the ranks of a step: srun --mpi=pmix nccl-launch -- python3 train_lm.py ...
Alone it is one rank. docs/payloads.md has the design and the exit statuses, docs/formats.md the files."""
LARGEST = 1 << 40


def whole(least, most=LARGEST):
    """A converter of texts to whole numbers from least to most."""
    def convert(text):
        if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
            limit = f"from {least}" + (f" to {most}" if most != LARGEST else "")
            raise argparse.ArgumentTypeError(f'got "{text}", expected a whole number {limit}')
        return int(text)
    return convert


def real(least, most, open_below=False):
    """A converter of texts to numbers from least to most; open_below: above least."""
    def convert(text):
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not (least <= value <= most) or math.isinf(value) or open_below and value == least:
            raise argparse.ArgumentTypeError(f'got "{text}", expected a number ' + ("above " if open_below else "from ") +
                                             f"{least:g}" + ("" if math.isinf(most) else f" to {most:g}"))
        return value
    return convert


SOME = real(0, math.inf, open_below=True)
OPTIONS = (
    # group, name, converter or choices, default, help
    ("files", "--out", str, None, "folder for log.jsonl and checkpoints, shared by the nodes; without it nothing is kept"),
    ("files", "--data", str, [], "text files, at least one (default: the text that is built in)"),
    ("files", "--model", str, None, "folder of a Hugging Face model, which is trained on (default: a GPT of our own from nothing)"),
    ("files", "--resume", ("auto", "never"), "auto", "auto: go on from the newest checkpoint in --out; never: refuse where there is one"),
    ("files", "--save-every", whole(0), 100, "steps between checkpoints; 0: only the last"),
    ("files", "--keep", whole(1), 3, "how many checkpoints are kept"),
    ("model", "--layers", whole(1), 4, "layers of our own GPT"),
    ("model", "--heads", whole(1), 4, "heads of each"),
    ("model", "--width", whole(1), 128, "width, a multiple of --heads"),
    ("model", "--context", whole(1), 128, "tokens of a window"),
    ("model", "--dropout", real(0, 0.9), 0.0, "share that is dropped; above 0 the losses depend on the number of ranks"),
    ("training", "--steps", whole(1), 300, "optimizer steps"),
    ("training", "--global-batch", whole(1), 12, "sequences of a step, over all ranks"),
    ("training", "--micro-batch", whole(1), 4, "sequences at once on a rank, at most; the rest of its share is accumulated"),
    ("training", "--lr", SOME, 3e-3, "highest learning rate"),
    ("training", "--min-lr", real(0, math.inf), None, "last learning rate (default: a tenth of --lr)"),
    ("training", "--warmup", whole(0), 20, "steps of rising learning rate"),
    ("training", "--weight-decay", real(0, math.inf), 0.1, "of AdamW, for matrices"),
    ("training", "--clip", real(0, math.inf), 1.0, "largest norm of all gradients; 0: no limit"),
    ("training", "--seed", whole(0), 1, "of weights and of the order of windows"),
    ("evaluation", "--eval-every", whole(0), 100, "steps between evaluations; 0: only the last"),
    ("evaluation", "--eval-share", real(0, 0.5), 0.05, "share of the windows that is held back for it; 0: no evaluation"),
    ("evaluation", "--eval-windows", whole(1), 256, "how many of these at most"),
    ("machine", "--device", ("auto", "cpu", "cuda"), "auto", "auto: a GPU where torch has one"),
    ("machine", "--parallel", ("auto", "ddp", "fsdp"), "auto", "fsdp: parameters and optimizer in shards (torch 2.2 or newer); auto: ddp"),
    ("machine", "--precision", ("auto", "bf16", "float32", "float64"), "auto", "auto: bf16 where the GPU has it, else float32"),
    ("machine", "--compile", None, False, "torch.compile (torch 2)"),
    ("machine", "--peak-tflops", SOME, None, "of a rank's GPU, for the utilisation (default: of a small table in bf16)"),
    ("machine", "--profile-every", whole(0), 50, "on GPUs: steps between those whose communication the profiler measures; 0: none"),
    ("machine", "--log-every", whole(1), 10, "steps between lines on the terminal; the log has all"),
)


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        wrong = [word for word in message.split() if word.startswith("--")]
        close = get_close_matches(wrong[-1].split("=")[0], [entry[1] for entry in OPTIONS], 1) if "unrecognized" in message and wrong else []
        hint = f'; did you mean "{close[0]}"?' if close else "; --help lists all"
        # The same on every rank.
        raise Problem(f"{message}{hint}", WRONG_USE, rank=0)


def parser():
    """The parser of OPTIONS."""
    out = _Parser(prog="train_lm.py", description=DESCRIPTION, allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter)
    groups = {}
    for group, name, kind, default, text in OPTIONS:
        if group not in groups:
            groups[group] = out.add_argument_group(group)
        said = "" if default in (None, [], False) else f" (default: {default})"
        more = {"action": "store_true"} if kind is None else {"choices": kind} if isinstance(kind, tuple) else {"type": kind}
        if name == "--data":
            more["nargs"] = "+"
        groups[group].add_argument(name, default=default, help=text + said, **more)
    return out


def parse(words):
    """Options of a command line. Problem where they are wrong or do not go together."""
    options = parser().parse_args(words)
    if options.min_lr is None:
        options.min_lr = options.lr / 10
    wrong = (
        (options.width % options.heads, f"--width {options.width}: expected a multiple of --heads {options.heads}"),
        (options.min_lr > options.lr, f"--min-lr {options.min_lr:g}: expected at most --lr {options.lr:g}"),
        (options.warmup >= options.steps and options.warmup > 0,
         f"--warmup {options.warmup}: expected less than --steps {options.steps}"),
        (options.out == "", '--out: got "", expected a folder'),
        (options.precision == "bf16" and options.device == "cpu",
         "--precision bf16: needs a GPU, but --device is cpu; expected float32 or float64"),
    )
    for is_wrong, text in wrong:
        if is_wrong:
            raise Problem(text, WRONG_USE, rank=0)
    return options


def check_batch(options, size):
    """Problem where there are more ranks than sequences in a step."""
    if options.global_batch < size:
        raise Problem(f"--global-batch {options.global_batch}: {size} ranks, of which each needs a sequence at least; expected {size} "
                      "or more, or fewer ranks", WRONG_USE, rank=0)


def about_training(options):
    """What a checkpoint keeps of the options that shape the curve, to be compared and told."""
    return {name: getattr(options, name) for name in ("steps", "global_batch", "lr", "min_lr", "warmup", "weight_decay", "clip", "seed",
                                                      "dropout", "precision")}
