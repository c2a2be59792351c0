# SPDX-License-Identifier: Apache-2.0
"""All ranks together: who they are, what they agree on, and how all of them end when one does.

What is agreed on travels over gloo in host memory, also where gradients go over NCCL. A rank that fails alone, in the middle
of a step, leaves word in the store of rank 0; a thread of every other rank reads it within a second and ends the process, since
its main thread may wait in a collective for ever."""
import datetime
import os
import sys
import threading
import time

import torch
import torch.distributed as dist

from lm.problem import WRONG_USE, Problem

POLL = 0.5    # seconds between looks at the store
LINGER = 5.0  # seconds for which a rank waits for another's word, and rank 0 for its word to be read
PATIENCE = datetime.timedelta(minutes=30)
# Counters: ranks that want to leave word, 1 when word is left, ranks that have read it; and the word: "RANK STATUS".
CLAIM, LEFT, SEEN, WORD = "train_lm/claim", "train_lm/left", "train_lm/seen", "train_lm/word"
# What collectives say when another process has gone.
LOST = ("Connection closed by peer", "Connection reset", "Broken pipe", "Connection refused", "NCCL error", "remote process",
        "Socket Timeout", "Timed out", "timed out", "recvValue", "Connection was likely closed")


def is_lost(error):
    """Whether an exception says that another rank has gone."""
    return isinstance(error, RuntimeError) and any(text in str(error) for text in LOST)


class Watch(threading.Thread):
    """Ends this process when another rank has left word that it failed."""

    def __init__(self, ranks):
        super().__init__(daemon=True)
        self._ranks, self._stopped = ranks, threading.Event()
        # A client is the same for either kind of server, but torch 2 refuses to make one where it is built without libuv.
        words = {"is_master": False, "timeout": datetime.timedelta(seconds=60)}
        if torch.__version__ >= "2.":
            words["use_libuv"] = False
        self._store = dist.TCPStore(ranks.address, ranks.port, **words)

    def run(self):
        """Looks until it is stopped or rank 0 is gone."""
        try:
            while not self._stopped.wait(POLL):
                if self._store.add(LEFT, 0):
                    rank, status = map(int, self._store.get(WORD).split())
                    if rank != self._ranks.rank:
                        self._store.add(SEEN, 1)
                        sys.stdout.flush()
                        os._exit(status)
                    return
        except RuntimeError:
            return

    def stop(self):
        """Ends the thread."""
        self._stopped.set()
        self.join()

    def announce(self, status):
        """Leaves word that this rank ends with `status`. Returns whether it is the first, who may print its message."""
        try:
            if self._store.add(CLAIM, 1) != 1:
                self.join(LINGER)
                return False
            self._store.set(WORD, f"{self._ranks.rank} {status}")
            self._store.add(LEFT, 1)
            give_up = time.monotonic() + LINGER
            # The store is in rank 0: it stays until all have read.
            while self._ranks.rank == 0 and self._store.add(SEEN, 0) < self._ranks.size - 1 and time.monotonic() < give_up:
                self._stopped.wait(POLL / 10)
        except RuntimeError:
            pass
        return True


def choose_device(wanted, local_rank):
    """The device of --device; Problem where there is no GPU for this rank."""
    count = torch.cuda.device_count() if wanted != "cpu" and torch.cuda.is_available() else 0
    if wanted == "cuda" and not count:
        raise Problem(f"--device cuda: torch {torch.__version__} sees no GPU here (CUDA of this torch: {torch.version.cuda or 'none'}); "
                      "does the job have GPUs (--gpus-per-node), and is this a torch for CUDA? Else --device cpu", WRONG_USE)
    if not count:
        return torch.device("cpu")
    if count > 1 and local_rank >= count:
        raise Problem(f"LOCAL_RANK: got {local_rank}, but there are {count} GPUs; start one task per GPU (--ntasks-per-node={count})",
                      WRONG_USE)
    device = torch.device("cuda", local_rank if count > 1 else 0)
    torch.cuda.set_device(device)
    return device


class World:
    """The ranks, joined. `device`: where this rank's tensors are; `gradients`: the group over which they travel, None for all
    ranks over gloo."""

    def __init__(self, ranks, always_join=False):
        """Waits for all ranks. always_join: also where there is one, as FSDP needs it. Problem when they do not come together."""
        self.ranks, self.device, self.gradients, self.watch = ranks, torch.device("cpu"), None, None
        self._joined = ranks.launched or always_join
        if not self._joined:
            return
        try:
            if ranks.launched:
                dist.init_process_group("gloo", init_method="env://", timeout=PATIENCE)
            else:
                dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1, timeout=PATIENCE)
            if ranks.size > 1:
                self.watch = Watch(ranks)
                self.watch.start()
        except (RuntimeError, ValueError) as error:
            advice = "set USE_LIBUV=0" if "libuv" in str(error) else "is it the address of rank 0's node, and do all ranks run?"
            raise Problem(f"{ranks.size} ranks at {ranks.address}:{ranks.port} do not come together over gloo: {error}; {advice}") from error

    def use(self, wanted):
        """Chooses the device by --device, the same kind on all ranks. Problem where there is none for some rank."""
        self.device = self.agree(lambda: choose_device(wanted, self.ranks.local_rank))
        kinds = self.gather(self.device.type)
        if len(set(kinds)) > 1:
            raise Problem(f"--device auto: a GPU on rank {kinds.index('cuda')} and none on rank {kinds.index('cpu')}; expected one on "
                          "every node or on none: leave that node out, or give --device cpu", WRONG_USE, rank=kinds.index("cpu"))
        if self.device.type == "cuda" and self._joined:
            self.gradients = dist.new_group(backend="nccl", timeout=PATIENCE)

    @property
    def rank(self):
        """Number of this rank."""
        return self.ranks.rank

    @property
    def size(self):
        """Number of ranks."""
        return self.ranks.size

    def gather(self, value):
        """What each rank gave, on every rank."""
        if self.size == 1:
            return [value]
        out = [None] * self.size
        dist.all_gather_object(out, value)
        return out

    def sum(self, *values):
        """The sums of these numbers over all ranks."""
        if self.size == 1:
            return [float(value) for value in values]
        together = torch.tensor(values, dtype=torch.float64)
        dist.all_reduce(together)
        return together.tolist()

    def agree(self, action):
        """Runs action() on every rank and returns its value. When it raises Problem on some, all raise that of the first."""
        value = problem = None
        try:
            value = action()
        except Problem as error:
            problem = error
        found = self.gather(problem and (str(problem), problem.status))
        failed = [rank for rank, one in enumerate(found) if one]
        if failed:
            text, status = found[failed[0]]
            also = f" ({len(failed) - 1} more of {self.size} ranks failed too)" if len(failed) > 1 else ""
            raise Problem(text + also, status, rank=failed[0]) from problem
        return value

    def on_first(self, action):
        """Runs action() on rank 0 alone; all have its value, or raise its Problem."""
        return self.gather(self.agree(action if self.rank == 0 else lambda: None))[0]

    def leave(self):
        """Parts, after all ranks have come here."""
        if not self._joined:
            return
        self.gather(None)
        if self.watch:
            self.watch.stop()
        dist.destroy_process_group()
