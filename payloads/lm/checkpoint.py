# SPDX-License-Identifier: Apache-2.0
"""What a checkpoint holds (docs/formats.md): weights, optimizer, data position and the state of chance of every rank.

Layout "whole": rank 0 writes all into one file. Layout "sharded": every rank writes its shards, by torch.distributed.checkpoint,
which reads them on any number of ranks."""
import os
import sys
import warnings

import torch

from lm import checkpoint_files as files
from lm.problem import WRONG_USE, Problem

STATE = "state.pt"
CHANCE = "chance.pt"


def chance_now():
    """The state of torch's random numbers in this process."""
    return {"cpu": torch.get_rng_state(), **({"cuda": torch.cuda.get_rng_state()} if torch.cuda.is_initialized() else {})}


def set_chance(state):
    """Goes on with these random numbers."""
    torch.set_rng_state(state["cpu"])
    if "cuda" in state and torch.cuda.is_available():
        torch.cuda.set_rng_state(state["cuda"])


def write_file(path, value):
    """Writes one file of torch; returns its entry in `files`. Raises OSError."""
    file = files.CheckedFile(path)
    torch.save(value, file)
    file.close()
    return file.about()


def read_file(path):
    """Reads one; nothing in it is run. Raises Damaged."""
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises all kinds
        raise files.Damaged(f"{os.path.basename(path)}: torch cannot read it: {error}") from error


def quiet(action):
    """Runs action() without what torch warns of its own insides (FutureWarning, UserWarning) while it handles shards."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return action()


class Checkpoints:
    """The checkpoints of a training in one folder."""

    def __init__(self, folder, newest, world, parallel, optimizer):
        """newest: how many are kept."""
        self._folder, self._newest, self._world = folder, newest, world
        self._parallel, self._optimizer = parallel, optimizer

    def save(self, about):
        """Writes the one of about["step"] and drops old ones. Problem on all ranks where one cannot."""
        step, chances = about["step"], self._world.gather(chance_now())
        about = {"v": files.VERSION, "ranks": self._world.size, "layout": self._parallel.layout, "torch": torch.__version__, **about}
        write = self._write_shards if self._parallel.layout == "sharded" else self._write_whole
        written = write(step, chances)
        self._world.on_first(lambda: self._do(step, lambda: self._finish(step, {**about, "files": written})))

    def _do(self, step, action):
        try:
            return action()
        except OSError as error:
            raise files.not_saved(self._folder, step, error) from error

    def _finish(self, step, about):
        files.finish(self._folder, step, about)
        files.keep(self._folder, self._newest)

    def _write_whole(self, step, chances):
        def write():
            path = files.begin(self._folder, step)
            # Of the optimizer only what is not set by options: these may change, and torch 1.13 refuses to read plain numbers
            # from a file out of which it runs nothing.
            state = {"model": self._parallel.inner.state_dict(), "optimizer": self._optimizer.state_dict()["state"], "chance": chances}
            return {STATE: write_file(os.path.join(path, STATE), state)}
        return self._world.on_first(lambda: self._do(step, write))

    def _write_shards(self, step, chances):
        from torch.distributed import checkpoint as shards  # pylint: disable=import-outside-toplevel
        path = files.partial(self._folder, step)
        self._world.on_first(lambda: self._do(step, lambda: files.begin(self._folder, step)))
        try:
            quiet(lambda: shards.save(self._state(), checkpoint_id=path))
        except Exception as error:  # on all ranks: shards.save agrees
            raise Problem(str(files.not_saved(self._folder, step, error)), files.NOT_SAVED, rank=0) from error

        def own():
            rank = self._world.rank
            names = [name for name in os.listdir(path) if name.startswith(f"__{rank}_") or rank == 0 and name == ".metadata"]
            found = {name: files.sum_of(os.path.join(path, name)) for name in names}
            if rank == 0:
                found[CHANCE] = write_file(os.path.join(path, CHANCE), chances)
            return found
        parts = self._world.gather(self._world.agree(lambda: self._do(step, own)))
        return {name: entry for part in parts for name, entry in part.items()}

    def _state(self):
        from torch.distributed.checkpoint.state_dict import get_state_dict  # pylint: disable=import-outside-toplevel
        model, optimizer = get_state_dict(self._parallel.module, self._optimizer)
        return {"model": model, "optimizer": optimizer}

    def restore(self, fits):
        """Loads the newest that is whole, and returns what its ABOUT says; None where there is none. A damaged one is named and
        set aside. fits: what it must be of (files.check_fits). Problem where it is not, or where all are damaged."""
        damaged, steps = [], self._world.on_first(lambda: files.listed(self._folder))
        self._world.agree(lambda: self._check_shared(steps))
        for step in steps:
            about, reason = self._try(step, fits)
            if about:
                self._set_aside(damaged, step)
                return about
            damaged.append((step, reason))
        if damaged:
            raise Problem(f"checkpoints in {self._folder}: none is whole: " +
                          "; ".join(f"{files.name_of(step)}: {reason}" for step, reason in damaged) +
                          ". Give another --out to begin anew, or bring one back", rank=0)
        return None

    def _check_shared(self, steps):
        own = files.listed(self._folder)
        if own != steps:
            raise Problem(f"{self._folder}: has the checkpoints of steps {own[::-1]} here, but {steps[::-1]} on rank 0; expected the same: "
                          "--out must be on a file system that the nodes share", WRONG_USE)

    def _try(self, step, fits):
        """Loads one: (its ABOUT, None), or (None, why it is damaged)."""
        path = os.path.join(self._folder, files.name_of(step))
        about, reason = self._whole(lambda: self._examine(path))
        if reason:
            return None, reason
        self._world.agree(lambda: files.check_fits(path, about, fits))
        _, reason = self._whole(lambda: self._load(path, about))
        return (None, reason) if reason else (about, None)

    def _whole(self, action):
        """(What action() returns, None), or (None, the reason of the first rank on which it raises Damaged)."""
        def caught():
            try:
                return action(), None
            except files.Damaged as error:
                return None, str(error)
        value, reason = self._world.agree(caught)
        reasons = [one for one in self._world.gather(reason) if one]
        return (None, reasons[0]) if reasons else (value, None)

    def _examine(self, path):
        about = files.read_about(path)
        files.check_files(path, about, lambda number: number % self._world.size == self._world.rank)
        return about

    def _load(self, path, about):
        if about["layout"] == "sharded":
            chances = self._load_shards(path)
        else:
            state = read_file(os.path.join(path, STATE))
            try:
                self._parallel.inner.load_state_dict(state["model"])
                self._optimizer.load_state_dict({**self._optimizer.state_dict(), "state": state["optimizer"]})
                chances = state["chance"]
            except (KeyError, ValueError, RuntimeError) as error:
                raise files.Damaged(f"{STATE}: {error}") from error
        # On another number of ranks there is none for each: the trainer has drawn them anew.
        if about["ranks"] == self._world.size:
            set_chance(chances[self._world.rank])

    def _load_shards(self, path):
        from torch.distributed import checkpoint as shards  # pylint: disable=import-outside-toplevel
        from torch.distributed.checkpoint.state_dict import set_state_dict  # pylint: disable=import-outside-toplevel
        state = quiet(self._state)
        try:
            quiet(lambda: shards.load(state, checkpoint_id=path))
        except Exception as error:  # on all ranks: shards.load agrees
            raise files.Damaged(f"its shards: {error}") from error
        quiet(lambda: set_state_dict(self._parallel.module, self._optimizer, model_state_dict=state["model"],
                                     optim_state_dict=state["optimizer"]))
        return read_file(os.path.join(path, CHANCE))

    def _set_aside(self, damaged, used):
        def rename():
            for step, reason in damaged:
                name = files.set_aside(self._folder, step)
                print(f"train_lm: rank 0: checkpoint {files.name_of(step)} is damaged: {reason}; it is {name} now, and "
                      f"{files.name_of(used)} is gone on from", file=sys.stderr, flush=True)
        self._world.on_first(rename)


def load_weights(path, model):
    """Loads the weights alone into a model (lm.model.from_settings), in one process, from either layout. Returns ABOUT. Raises
    Damaged."""
    about = files.read_about(path)
    files.check_files(path, about)
    if about["layout"] == "sharded":
        from torch.distributed import checkpoint as shards  # pylint: disable=import-outside-toplevel
        state = {"model": model.state_dict()}
        quiet(lambda: shards.load(state, checkpoint_id=path))
        state = state["model"]
    else:
        state = read_file(os.path.join(path, STATE))["model"]
    model.load_state_dict(state)
    return about
