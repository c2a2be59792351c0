# SPDX-License-Identifier: Apache-2.0
"""The state folder of a cluster: where things are in it, its lock, and which process is the head's init.

The head holds the lock for as long as it lives, so whoever gets the lock knows that the folder is stale. A folder
appears with its marker in it, at once, and goes likewise; one without the marker is somebody else's and stays as it is.
"""

import fcntl
import json
import os
import re
import shutil
import stat
import tempfile
import time
from pathlib import Path

from . import linux
from .errors import BAD_INPUT, ClusterError, bad_input, words_of
from .machines import CLONE

INSIDE = "/run/cluster"  # where the cluster's own processes see the folder
MARKER = ".nccl-tune-cluster"  # only a folder with this file in it is ever changed
MARKER_TEXT = "State of an embedded cluster. tools/cluster removes this folder and all in it.\n"
TRIES = 100  # to take the lock while others make and remove the folder
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


def _remove_if_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        pass  # another cluster is in it


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

    @property
    def option(self) -> str:
        """What a command line needs to mean this cluster."""
        return "" if self.name == "default" else f" --name {self.name}"

    def _unusable(self, error: OSError) -> ClusterError:
        return ClusterError(f"{self.folder}: cannot use this state folder: {words_of(error)}; set "
                            "NCCL_TUNE_CLUSTER_DIR to a folder of your own", BAD_INPUT)

    def _foreign(self, got: str) -> ClusterError:
        return ClusterError(f"{self.folder}: got {got}, expected nothing or a state folder that tools/cluster made; it "
                            "is left as it is: choose another --name, set NCCL_TUNE_CLUSTER_DIR to another folder, or "
                            "remove it yourself", BAD_INPUT)

    def there(self) -> bool:
        """Whether the folder exists. Raises when what stands there was not made by `lock`."""
        try:
            mode = os.lstat(self.folder).st_mode
            if stat.S_ISLNK(mode):
                raise self._foreign("a link")
            if not stat.S_ISDIR(mode):
                raise self._foreign("something that is no folder")
            if stat.S_ISREG(os.lstat(self.folder / MARKER).st_mode):
                return True
        except FileNotFoundError:
            if not os.path.lexists(self.folder):
                return False
        except OSError as error:
            raise self._unusable(error) from error
        raise self._foreign(f"a folder without the file {MARKER}")

    def _make(self) -> None:
        """Makes the folder with its marker in it, unless another process does so first."""
        above = self.folder.parent
        made_above = not os.path.lexists(above)
        try:
            above.mkdir(parents=True, exist_ok=True)
            new = Path(tempfile.mkdtemp(prefix=f".{self.name}.", dir=above))
            try:
                new.chmod(0o755)
                (new / MARKER).write_text(MARKER_TEXT, encoding="utf-8")
                os.close(os.open(new / "lock", os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
                if not os.path.lexists(self.folder):
                    new.rename(self.folder)
            finally:
                shutil.rmtree(new, ignore_errors=True)  # does nothing when it has been renamed
        except OSError as error:
            if made_above:
                _remove_if_empty(above)
            if not self.there() and (above.is_dir() or not made_above):  # else others were quicker
                raise self._unusable(error) from error

    def lock(self) -> int | None:
        """Makes the folder if need be and takes its lock; None while another process holds it."""
        for _ in range(TRIES):
            if not self.there():
                self._make()
            try:
                handle = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            except FileNotFoundError:
                continue  # removed by another's `down` in between
            except OSError as error:
                raise self._unusable(error) from error
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(handle)
                return None
            if self._is_lock(handle):
                return handle
            os.close(handle)
        raise ClusterError(f"{self.folder}: cannot take the lock of this state folder: it was removed {TRIES} times "
                           "meanwhile; see which other process uses it, or choose another --name", BAD_INPUT)

    def _is_lock(self, handle: int) -> bool:
        try:
            return os.path.samestat(os.fstat(handle), os.stat(self.folder / "lock"))
        except FileNotFoundError:
            return False

    def clear(self, but: tuple[str, ...] = ("lock",)) -> None:
        """Removes what a former cluster left, except what `but` names and the marker."""
        if not self.there():
            return
        for path in self.folder.iterdir():
            if path.name in (MARKER, *but):
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()

    def remove(self) -> None:
        """Removes the folder; the lock must be held. The folder above goes too when nothing else is in it."""
        if not self.there():
            return
        self.clear()
        old = self.folder.with_name(f".{self.name}.{os.urandom(8).hex()}")
        self.folder.rename(old)  # at once: nobody finds it without its marker or its lock
        shutil.rmtree(old)
        if not os.environ.get("NCCL_TUNE_CLUSTER_DIR"):
            _remove_if_empty(self.folder.parent)

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
        except ValueError as error:
            raise ClusterError(f"{self.folder / 'cluster.json'}: {error}, expected what `up` wrote; start again: "
                               f"{self.again()}") from error

    def not_up(self) -> ClusterError:
        return ClusterError(f'cluster "{self.name}" is not up (state folder {self.folder}); '
                            f"start it: tools/cluster up{self.option}")

    def again(self) -> str:
        """The commands that start the cluster afresh."""
        return f"tools/cluster down{self.option} && tools/cluster up{self.option}"

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
