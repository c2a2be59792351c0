# SPDX-License-Identifier: Apache-2.0
"""Makes the head's namespaces, and tries beforehand whether this machine allows them and the mounts in them."""

import os
from pathlib import Path

from . import linux
from .errors import NOT_POSSIBLE, ClusterError, words_of

# Switches that forbid namespaces to users, and the value that does so.
SWITCHES = {"/proc/sys/user/max_user_namespaces": "0", "/proc/sys/kernel/unprivileged_userns_clone": "0",
            "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1"}


def has_one_user() -> bool:
    """Whether root here is only a user of the machine under another name, as in a container without root."""
    return Path("/proc/self/setgroups").read_text().strip() == "deny"


def enter_new(rootless: bool) -> None:
    """Moves this process into new namespaces; its next child is pid 1 there. Without root, as root of its own users."""
    uid, gid = os.geteuid(), os.getegid()
    linux.unshare(linux.HEAD_NAMESPACES | (linux.CLONE_NEWUSER if rootless else 0))
    if rootless:
        linux.become_root_of_user_namespace(uid, gid)


def _try_mounts() -> None:
    """The mounts that may be forbidden, in namespaces that end with this process."""
    linux.mount("", "/", flags=linux.MS_REC | linux.MS_PRIVATE)
    linux.mount("proc", "/proc", "proc")
    linux.tmpfs("/tmp")
    for name in ("a", "b", "sys"):
        os.mkdir(f"/tmp/{name}")
    linux.mount("sysfs", "/tmp/sys", "sysfs")
    linux.overlay(["/tmp/a", "/tmp/sys"], "/tmp/b")


def _try_all(rootless: bool) -> str:
    """Runs in a child: what went wrong, or nothing."""
    try:
        enter_new(rootless)
        read, write = os.pipe()
        if os.fork() == 0:
            try:
                _try_mounts()
            except Exception as error:  # told by the pipe; this process must end here
                os.write(write, words_of(error).encode())
            os._exit(0)
        os.close(write)
        return os.read(read, 4096).decode()
    except OSError as error:
        return words_of(error)


def _switched_off() -> str:
    there = {path: Path(path).read_text().strip() for path in SWITCHES if Path(path).is_file()}
    found = [path for path, value in there.items() if value == SWITCHES[path]]
    return "".join(f" {path} is {SWITCHES[path]}." for path in found)


def check(rootless: bool) -> None:
    """Raises when the namespaces or the mounts in them are refused, with what refuses them as far as can be told."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, _try_all(rootless).encode())
        finally:
            os._exit(0)
    os.close(write)
    trouble = os.read(read, 4096).decode()
    os.close(read)
    os.waitpid(child, 0)
    if trouble:
        who = f"user {os.geteuid()}" if rootless else "root"
        todo = "run as root, or have an administrator allow user namespaces" if rootless else \
            "in a container, start it privileged (CAP_SYS_ADMIN, /proc and /sys not masked)"
        raise ClusterError(f"namespaces: got \"{trouble}\" for {who} on this machine, expected them to be allowed."
                           f"{_switched_off()} To do: {todo}", NOT_POSSIBLE)
