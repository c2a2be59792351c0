# SPDX-License-Identifier: Apache-2.0
"""A node's files: lays its capture out in the state folder, lays that over /sys, and changes a file while it runs.

On the node the capture is the upper one of two read-only layers, so a file changes only by writing it in place.
"""

import errno
import os
import re
from pathlib import Path

from . import capture, linux
from .errors import BAD_INPUT, ClusterError, bad_input
from .machines import Node
from .state import INSIDE

# What the kernel shows of the node's own interfaces is right; only the rest comes from the capture.
LIVE = ("address addr_len addr_assign_type broadcast carrier carrier_changes carrier_down_count carrier_up_count "
        "dormant flags ifindex iflink link_mode mtu operstate tx_queue_len").split()
LIVE_PATH = re.compile(r"sys/.*/net/[^/]+/(" + "|".join(LIVE) + ")")
# Folders that hide what the host has instead of adding to it.
REPLACED = ("class/infiniband", "class/infiniband_verbs", "bus/pci/devices")
NUMA = "devices/system/node"
REAL = "/run/sysfs"


def _left_to_the_kernel(path: str) -> bool:
    return path.startswith("sys/devices/system/cpu/") or LIVE_PATH.fullmatch(path) is not None


def lay_out(node: Node, root: Path) -> None:
    """Writes the files of a node below `root`."""
    for folder in REPLACED:
        os.makedirs(root / "sys" / folder)
    capture.lay_out(node.capture.entries, root, _left_to_the_kernel)


def _net_folder(root: str, name: str) -> str | None:
    """Where the capture has the folder of an interface, below sys; None when it has none or a virtual one."""
    link = f"{root}/class/net/{name}"
    if not os.path.isdir(link):
        return None
    folder = os.path.relpath(os.path.realpath(link), root)
    return None if folder.startswith(("..", "devices/virtual/", "class/")) else folder


def mount_sys(node: Node) -> None:
    """Lays the fixture over this network namespace's own sysfs."""
    root = f"{INSIDE}/nodes/{node.name}/sys"
    os.mkdir(REAL)
    linux.mount("sysfs", REAL, "sysfs")
    linux.overlay([root, REAL], "/sys")
    for dev in node.netdevs:
        folder = _net_folder(root, dev.name)
        if folder:
            linux.overlay([f"{root}/{folder}", f"{REAL}/devices/virtual/net/{dev.name}"], f"/sys/{folder}")
    for folder in (*REPLACED, *([NUMA] if os.path.isdir(f"{root}/{NUMA}") else [])):
        linux.bind(f"{root}/{folder}", f"/sys/{folder}")


def _device(path: str, usable: bool) -> None:
    """A stand-in that opens like /dev/null, or that nobody can open, root neither, as its mount allows no devices."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "x", encoding="ascii"):
        pass
    linux.bind("/dev/null", path)
    if not usable:
        kept = os.statvfs(path).f_flag & (os.ST_RDONLY | os.ST_NOSUID | os.ST_NOEXEC)  # else a user namespace refuses
        linux.mount("", path, flags=linux.MS_REMOUNT | linux.MS_BIND | linux.MS_NODEV | kept)


def mount_dev(node: Node) -> None:
    """A /dev of the node's own, with its GPUs and the device nodes of its capture."""
    new = "/run/dev"
    linux.tmpfs(new)
    for name in ("null", "zero", "full", "random", "urandom", "tty"):
        if not os.path.exists(f"/dev/{name}"):
            continue
        with open(f"{new}/{name}", "x", encoding="ascii"):
            pass
        linux.bind(f"/dev/{name}", f"{new}/{name}")
    for name, target in (("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2"),
                         ("ptmx", "pts/ptmx")):
        os.symlink(target, f"{new}/{name}")
    linux.tmpfs(f"{new}/shm", "1777")
    os.mkdir(f"{new}/pts")
    linux.mount("devpts", f"{new}/pts", "devpts", options="newinstance,ptmxmode=0666,mode=620")
    listed = {path[4:]: entry.value == "rw" for path, entry in node.capture.entries.items()
              if path.startswith("dev/") and entry.kind == capture.DEVICE}
    for name, usable in ({f"nvidia{k}": True for k in range(node.gpus)} | listed).items():
        _device(f"{new}/{name}", usable)
    linux.bind(new, "/dev", recursive=True)


def _checked_line(value: str) -> bytes:
    """The line for a file, under the rules for a value of a capture."""
    try:
        data = (value + "\n").encode("utf-8")
    except UnicodeEncodeError as error:
        raise bad_input("VALUE", value[:80], "UTF-8") from error
    if "\n" in value:
        raise bad_input("VALUE", value[:80], "one line")
    bad = capture.CONTROL.search(value)
    if bad:
        raise bad_input("control character in VALUE", f"\\x{ord(bad.group()):02x}", "text without any")
    if len(data) > capture.MAX_VALUE:
        raise bad_input("length of VALUE", str(len(data)), f"at most {capture.MAX_VALUE} bytes with the end of line")
    return data


def _overwrite(handle: int, data: bytes) -> None:
    """Replaces what is in the file; when there is no space for that, it is as before."""
    old = os.pread(handle, os.fstat(handle).st_size, 0)
    try:
        if os.pwrite(handle, data, 0) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    except OSError:
        os.pwrite(handle, old, 0)
        data = old
        raise
    finally:
        os.ftruncate(handle, len(data))


def change(root: Path, path: str, value: str) -> None:
    """Writes one line into a file of the fixture, in place, so that the node sees it at once."""
    full = os.path.realpath(root / path)
    if not full.startswith(os.path.realpath(root) + "/"):
        raise bad_input("PATH", path, "one that stays below the node's root")
    data = _checked_line(value)
    try:
        handle = os.open(full, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError as error:
        raise ClusterError(f"{root / path}: cannot change this file: {error.strerror}; only files of the node's "
                           "capture can be, and interfaces are changed by ip on the node", BAD_INPUT) from error
    try:
        _overwrite(handle, data)
    except OSError as error:
        raise ClusterError(f"{root / path}: cannot write this file: {error.strerror}; it is as it was") from error
    finally:
        os.close(handle)
