#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a causal language model over the ranks of a step. --help lists the options, docs/payloads.md says how it works."""
import os
import signal
import sys
import traceback

from lm import options as command_line
from lm import ranks as variables
from lm.problem import FAILED, WRONG_USE, Problem


# What Python, torch on the host and CUDA say when there is none.
NO_MEMORY = ("MemoryError", "can't allocate memory", "out of memory")


class Stop:
    """Whether SIGTERM or SIGUSR1 has come; the step that runs is finished first."""

    wanted, signal = False, None

    def listen(self):
        """From here on these signals only leave a note. Not before all ranks are joined: one that waits for the others is ended."""
        for number in (signal.SIGTERM, signal.SIGUSR1):
            signal.signal(number, self._note)

    def _note(self, number, _):
        self.wanted, self.signal = True, signal.Signals(number).name


def say(rank, text):
    """One message in one write, so that no other rank's is in it."""
    sys.stdout.flush()
    os.write(2, f"train_lm: rank {rank}: {text}\n".encode())


def import_torch():
    """Problem where this Python has no PyTorch."""
    try:
        import torch  # pylint: disable=import-outside-toplevel,unused-import
    except ImportError as error:
        raise Problem(f"{sys.executable} has no PyTorch ({error}); install Debian's python3-torch, or start with the python3 of an "
                      "environment that has one, on every node", WRONG_USE) from error


def train(options, ranks, stop, joined):
    """Trains; returns the exit status. joined: a list that gets the World as soon as there is one."""
    import_torch()
    import torch  # pylint: disable=import-outside-toplevel
    from lm import world as worlds  # pylint: disable=import-outside-toplevel
    from lm.parallel import kind_of  # pylint: disable=import-outside-toplevel
    from lm.trainer import Trainer  # pylint: disable=import-outside-toplevel
    kind = kind_of(options.parallel, ranks, torch.__version__)
    world = worlds.World(ranks, always_join=kind == "fsdp")
    joined.append(world)
    stop.listen()
    world.use(options.device)
    status = Trainer(options, world, kind, stop).run()
    world.leave()
    return status


def failed(error, ranks, joined):
    """Prints the one message of an error, unless another rank has; returns the exit status."""
    status, rank, text = FAILED, None, f"{type(error).__name__}: {error}"
    lost = False
    if isinstance(error, Problem):
        status, rank, text = error.status, error.rank, str(error)
    elif any(words in text for words in NO_MEMORY):
        text = f"no memory left: {text.splitlines()[0]}; a smaller --micro-batch or --context needs less"
    elif joined and sys.modules["lm.world"].is_lost(error):
        lost = True
        text = f"another rank has gone: {text.splitlines()[0]}"
    else:
        text = f"{text}\n{''.join(traceback.format_exception(type(error), error, error.__traceback__))}".rstrip()
    watch = joined[0].watch if joined else None
    if rank is None and watch:
        if lost:
            watch.join(sys.modules["lm.world"].LINGER / 2)  # ends this process where another rank has left word
        if not watch.announce(status):
            return status
    if rank is None or rank == ranks.rank:
        say(ranks.rank, text)
    return status


def main(words, environment):
    """Returns the exit status."""
    stop, ranks, joined = Stop(), variables.Ranks(), []
    try:
        ranks = variables.read(environment)
        return train(command_line.parse(words), ranks, stop, joined)
    except Exception as error:  # pylint: disable=broad-except
        return failed(error, ranks, joined)


if __name__ == "__main__":
    STATUS = main(sys.argv[1:], os.environ)
    sys.stdout.flush()
    # Not sys.exit: what is left of a process group might wait for ranks that are gone, and threads of torch 2.6 that still run
    # then abort a process that has done all its work.
    os._exit(STATUS)
