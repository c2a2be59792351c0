# SPDX-License-Identifier: Apache-2.0
"""The state folder of a cluster: where things are in it, its lock, and which process is the head's init.

The head holds the lock for as long as it lives, so whoever gets the lock knows that the folder is stale.
"""

import fcntl
import json
import os
import re
import shutil
import time
from pathlib import Path

from . import linux
from .errors import BAD_INPUT, ClusterError, bad_input
from .machines import CLONE

INSIDE = "/run/cluster"  # where the cluster's own processes see the folder
STEP = 0.01  # seconds between two looks at something that others change


def wait_until(true, seconds: float) -> bool:
    """Polls `true` until it answers so; False when it does not within that time."""
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(STEP)
    return True


def replace_file(path: Path, text: str, mode: int = 0o644) -> None:
    """Writes a whole file at once, so that no reader sees a part of it."""
    new = path.with_name(path.name + ".new")
    new.write_text(text, encoding="utf-8")
    new.chmod(mode)
    new.rename(path)


class State:
    """The folder of the cluster called `name`."""

    def __init__(self, name: str):
        if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,31}", name):
            raise bad_input("--name", name, "up to 32 small letters, digits and -")
        self.name = name
        above = os.environ.get("NCCL_TUNE_CLUSTER_DIR")
        if above and not os.path.isabs(above):
            raise bad_input("NCCL_TUNE_CLUSTER_DIR", above, "an absolute path")
        self.folder = (Path(above) if above else CLONE / ".cluster") / name
        self.nodes = self.folder / "nodes"
        self.logs = self.folder / "logs"
        self.bin = self.folder / "bin"
        self.conf = self.folder / "conf"

    def lock(self) -> int | None:
        """Makes the folder if need be and takes its lock; None while another process holds it."""
        while True:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                handle = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            except FileNotFoundError:
                continue  # removed by another's `down` in between
            except OSError as error:
                raise ClusterError(f"{self.folder}: cannot use this state folder: {error.strerror}; set "
                                   "NCCL_TUNE_CLUSTER_DIR to a folder of your own", BAD_INPUT) from error
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(handle)
                return None
            if self._is_lock(handle):
                return handle
            os.close(handle)

    def _is_lock(self, handle: int) -> bool:
        try:
            return os.path.samestat(os.fstat(handle), os.stat(self.folder / "lock"))
        except FileNotFoundError:
            return False

    def clear(self, but: tuple[str, ...] = ("lock",)) -> None:
        """Removes what a former cluster left, except what `but` names."""
        for path in self.folder.iterdir():
            if path.name in but:
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()

    def remove(self) -> None:
        """Removes the folder; the lock must be held. The folder above goes too when nothing else is in it."""
        self.clear()
        shutil.rmtree(self.folder)
        if "NCCL_TUNE_CLUSTER_DIR" not in os.environ:
            try:
                self.folder.parent.rmdir()
            except OSError:
                pass  # another cluster is in it

    def write_head(self, pid: int) -> None:
        replace_file(self.folder / "head", f"{pid} {linux.start_time(pid) or 0}\n")

    def head(self) -> tuple[int, int] | None:
        """Pid and start time of the head's init, or None when it does not run."""
        try:
            pid, started = map(int, (self.folder / "head").read_text().split())
        except (FileNotFoundError, ValueError):
            return None
        return (pid, started) if linux.start_time(pid) == started else None

    def write_about(self, about: dict) -> None:
        replace_file(self.folder / "cluster.json", json.dumps(about, indent=1) + "\n")

    def about(self) -> dict:
        """What `up` wrote about the cluster: whether it is rootless, and its nodes."""
        try:
            return json.loads((self.folder / "cluster.json").read_text())
        except FileNotFoundError as error:
            raise self.not_up() from error

    def not_up(self) -> ClusterError:
        extra = "" if self.name == "default" else f" --name {self.name}"
        return ClusterError(f'cluster "{self.name}" is not up (state folder {self.folder}); '
                            f"start it: tools/cluster up{extra}")

    def node_pids(self) -> dict[str, int]:
        """The inits of the nodes that live, by the numbers of this process's /proc."""
        head = self.head()
        if head is None:
            raise self.not_up()
        by_number = {linux.pid_in_parent_namespace(pid): pid for pid in linux.children(head[0])}
        try:
            recorded = json.loads((self.folder / "pids.json").read_text())
        except FileNotFoundError:
            recorded = {}
        return {name: by_number[number] for name, number in recorded.items() if number in by_number}
