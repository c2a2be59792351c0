# SPDX-License-Identifier: Apache-2.0
"""The training itself: steps, evaluation, checkpoints, log."""
import contextlib
import hashlib
import math
import os
import resource
import time

import torch
from torch.nn import functional

from lm import metrics, order, setup
from lm import options as command_line
from lm.checkpoint import Checkpoints
from lm.log import Log
from lm.parallel import profiled
from lm.problem import DONE, STOPPED, WRONG_USE, Problem
from lm.schedule import learning_rate

LOG = "log.jsonl"
CHECKPOINTS = "checkpoints"


def digest(state):
    """SHA-256 of all weights in the order of their names: equal when they are, to the bit."""
    out = hashlib.sha256()
    for name in sorted(state):
        out.update(name.encode())
        out.update(state[name].detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().tobytes())
    return out.hexdigest()


def open_log(options, world):
    """The log of --out on rank 0; of nothing on the others."""
    if world.rank or not options.out:
        return Log(None, time.time)
    try:
        os.makedirs(options.out, exist_ok=True)
        return Log(os.path.join(options.out, LOG), time.time)
    except OSError as error:
        raise Problem(f"--out {options.out}: {error.strerror}; expected a folder that rank 0 can write, shared by the nodes",
                      WRONG_USE) from error


class Trainer:
    """One run over the steps that are left. `stop`: has `wanted`, whether a signal has asked for the end."""

    def __init__(self, options, world, kind, stop):
        self._options, self._world, self._stop = options, world, stop
        self._training = setup.prepare(options, world, kind)
        self._parallel, self._text = self._training.parallel, self._training.text
        self._rounds = order.rounds(options.global_batch, world.size, options.micro_batch)
        self._step = self._sequences = 0
        self._stop_agreed = False
        self._log = world.agree(lambda: open_log(options, world))
        self._checkpoints = None
        if options.out:
            self._checkpoints = Checkpoints(os.path.join(options.out, CHECKPOINTS), options.keep, world, self._parallel,
                                            self._training.optimizer)

    def run(self):
        """Trains until --steps or a signal; returns the exit status. Problem for what goes wrong on all ranks."""
        self._warm_up()
        self._begin()
        saved = self._step
        while self._step < self._options.steps and not self._stop_agreed:
            self._train_step()
            if self._is_time(self._options.eval_every):
                self._evaluate()
            if self._is_time(self._options.save_every) or self._stop_agreed:
                saved = self._save(saved)
        self._save(saved)
        return self._end()

    def _is_time(self, every):
        return every and self._step % every == 0 and self._step < self._options.steps

    def _say(self, text):
        if self._world.rank == 0:
            print(text, flush=True)

    def _warm_up(self):
        """One pass that changes nothing. DDP orders its buckets anew after its first pass, which alters the order in which ranks
        are added up: so no step is in the first pass, neither of a run from the start nor of one that goes on."""
        self._parallel.module.train()
        self._backward(self._text.training(0, range(1), 0), 0.0)
        self._training.optimizer.zero_grad(set_to_none=True)
        if self._parallel.communication:
            self._parallel.communication.take()

    def _begin(self):
        options, training = self._options, self._training
        torch.manual_seed(order.mix(options.seed ^ order.mix(self._world.rank)) >> 1)
        about = self._checkpoints.restore(training.about) if self._checkpoints else None
        if about and options.resume == "never":
            raise Problem(f"--resume never: {options.out} has a checkpoint of step {about['step']}; leave the option out to go on with it, "
                          "or give another --out", WRONG_USE, rank=0)
        self._log.add("start", ranks=self._world.size, parallel=self._parallel.kind, precision=training.precision,
                      device=self._world.device.type, torch=torch.__version__, parameters=training.parameters, tokens=len(self._text),
                      windows=self._text.trained, peak_tflops=training.peak, options=vars(options))
        self._say(f"train_lm: {training.parameters / 1e6:.1f} M parameters, {self._world.size} ranks ({self._parallel.kind}), "
                  f"{training.precision} on {self._world.device.type}, {len(self._text)} tokens")
        if about:
            self._step, self._sequences = about["step"], about["sequences"]
            changed = setup.changed_since(about, options)
            self._log.add("resume", step=self._step, ranks_before=about["ranks"], changed=changed)
            self._say(f"train_lm: goes on after step {self._step}, saved by {about['ranks']} ranks" +
                      "".join(f"\n  changed: {one}" for one in changed))
        self._say("    step      loss        lr  tokens/s  comm %   MFU %")

    def _backward(self, windows, scale):
        """Adds the gradients of windows, times scale; returns the sum of the tokens' losses. Without windows: of one, times 0, since
        ranks meet in each pass."""
        if not len(windows):
            windows, scale = self._text.training(0, range(1), 0), 0.0
        loss = self._loss(windows)
        (loss * scale).backward()
        return loss.detach().double() if scale else torch.zeros((), dtype=torch.float64)

    def _loss(self, windows):
        windows = windows.to(self._world.device, non_blocking=True)
        with self._parallel.cast():
            logits = self._parallel.module(windows[:, :-1])
        logits = logits if logits.dtype == torch.float64 else logits.float()
        return functional.cross_entropy(logits.flatten(0, 1), windows[:, 1:].flatten(), reduction="sum")

    def _gradients(self):
        """Those of this step's batch, over all ranks; returns the sum of losses of this rank's part."""
        options = self._options
        part = order.share(options.global_batch, self._world.rank, self._world.size)
        # DDP and FSDP give the mean over the ranks.
        scale = self._world.size / (options.global_batch * options.context)
        total = 0.0
        for number, piece in enumerate(order.split(part, self._rounds)):
            with self._parallel.accumulate(number == self._rounds - 1):
                total = total + self._backward(self._text.training(self._sequences, piece, options.seed), scale).to(self._world.device)
        return float(total)

    def _train_step(self):
        options, training, seconds = self._options, self._training, []
        is_profiled = self._world.device.type == "cuda" and self._world.size > 1 and options.profile_every and \
            (self._step + 1) % options.profile_every == 0
        began = time.perf_counter()
        rate = learning_rate(self._step, options.steps, options.warmup, options.lr, options.min_lr)
        for group in training.optimizer.param_groups:
            group["lr"] = rate
        with profiled(seconds) if is_profiled else contextlib.nullcontext():
            total = self._gradients()
        norm = self._parallel.clip(options.clip or math.inf)
        training.optimizer.step()
        training.optimizer.zero_grad(set_to_none=True)
        loss_sum, stops = self._world.sum(total, float(self._stop.wanted))
        took = time.perf_counter() - began
        loss = loss_sum / (options.global_batch * options.context)
        self._step += 1
        self._sequences += options.global_batch
        self._stop_agreed = stops > 0
        if not (math.isfinite(loss) and math.isfinite(norm)):
            raise Problem(f"step {self._step}: the loss is {loss} and the norm of the gradients {norm}; nothing of it is saved. A lower "
                          "--lr or more --warmup may help", rank=0)
        self._tell(loss, rate, norm, took, seconds)

    def _tell(self, loss, rate, norm, took, seconds):
        options, training = self._options, self._training
        speed = options.global_batch * options.context / took
        share = source = None
        if seconds:
            share, source = seconds[0] / took, "profiler"
        elif self._parallel.communication:
            share, source = self._parallel.communication.take() / took, "hook"
        used = metrics.utilisation(speed, training.token_flops, training.peak, self._world.size)
        self._log.add("step", step=self._step, loss=loss, lr=rate, grad_norm=norm, seconds=took, tokens_per_second=speed,
                      comm_share=share, comm_from=source, mfu=used)
        if self._step % options.log_every == 0 or self._step in (1, options.steps):
            shown = [f"{100 * value:7.1f}" if value is not None else "      -" for value in (share, used)]
            self._say(f"{self._step:8d} {loss:9.5f} {rate:9.2e} {speed:9.0f} {shown[0]} {shown[1]}")

    def _evaluate(self):
        """Mean loss of a token over the windows that are held back."""
        count = min(self._text.evaluated, self._options.eval_windows)
        if not count:
            return
        part = order.share(count, self._world.rank, self._world.size)
        total = 0.0
        self._parallel.module.eval()
        with torch.no_grad():
            for piece in order.split(part, order.rounds(count, self._world.size, self._options.micro_batch)):
                # An empty one is computed all the same, as ranks meet in each pass of FSDP.
                loss = self._loss(self._text.evaluation(piece or range(1)))
                total += float(loss) if piece else 0.0
        self._parallel.module.train()
        loss = self._world.sum(total)[0] / (count * self._options.context)
        self._log.add("eval", step=self._step, loss=loss, windows=count)
        self._say(f"{self._step:8d} {loss:9.5f}  evaluation, {count} windows")

    def _save(self, saved):
        """Saves the step, if it is not the one that is `saved`; returns which is."""
        if not self._checkpoints or self._step == saved:
            return saved
        began = time.perf_counter()
        self._checkpoints.save({"step": self._step, "sequences": self._sequences, "tokenizer": self._training.described.tokenizer.name,
                                "model": self._training.about["model"], "data": self._training.about["data"],
                                "training": command_line.about_training(self._options)})
        self._log.add("save", step=self._step, seconds=time.perf_counter() - began)
        return self._step

    def _end(self):
        if self._step < self._options.steps:
            kept = "saved" if self._checkpoints else "not saved, as there is no --out"
            self._log.add("stop", step=self._step, signal=self._stop.signal)
            self._say(f"train_lm: a signal came: stops after step {self._step}, {kept}; status {STOPPED}")
            return STOPPED
        self._evaluate()
        weights = digest(self._parallel.inner.state_dict()) if self._parallel.layout == "whole" else None
        spent = resource.getrusage(resource.RUSAGE_SELF)
        cpu = self._world.sum(spent.ru_utime + spent.ru_stime)[0]
        self._log.add("end", step=self._step, weights=weights, cpu_seconds=round(cpu, 2))
        self._say(f"train_lm: done after step {self._step}" + (f", weights {weights[:16]}" if weights else ""))
        return DONE
