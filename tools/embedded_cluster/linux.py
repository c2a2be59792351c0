# SPDX-License-Identifier: Apache-2.0
"""The kernel calls that Python 3.11 has no function for: namespaces, mounts, the seccomp filter, process handles."""

import ctypes
import os
import platform
import select
import signal
import struct

from .errors import ClusterError

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000
NODE_NAMESPACES = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWNET
HEAD_NAMESPACES = NODE_NAMESPACES | CLONE_NEWCGROUP

MS_RDONLY = 1
MS_NODEV = 4
MS_REMOUNT = 32
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
MNT_DETACH = 2

PR_SET_PDEATHSIG = 1
PR_SET_NAME = 15
PR_SET_SECCOMP = 22
PR_SET_NO_NEW_PRIVS = 38
SECCOMP_MODE_FILTER = 2

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def unshare(flags: int) -> None:
    _check(_libc.unshare(ctypes.c_int(flags)), f"unshare {flags:#x}")


def setns(fd: int, flags: int) -> None:
    _check(_libc.setns(ctypes.c_int(fd), ctypes.c_int(flags)), f"setns {flags:#x}")


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    def text(value: str):
        return os.fsencode(value) if value else None
    result = _libc.mount(text(source), text(target), text(kind), ctypes.c_ulong(flags), text(options))
    _check(result, f"mount {kind or 'bind'} on {target}")


def bind(source: str, target: str, recursive: bool = False) -> None:
    mount(source, target, flags=MS_BIND | (MS_REC if recursive else 0))


def tmpfs(target: str, mode: str = "755") -> None:
    os.makedirs(target, exist_ok=True)
    mount("tmpfs", target, "tmpfs", options=f"mode={mode}")


def pivot_root(new: str) -> None:
    """Makes the mount at `new` the root, and this process's current folder; the old root is out of reach."""
    os.chdir(new)
    _check(_libc.pivot_root(b".", b"."), f"pivot_root to {new}")
    _check(_libc.umount2(b".", ctypes.c_int(MNT_DETACH)), "umount of the old root")
    os.chdir("/")


def overlay(lower: list[str], target: str) -> None:
    """Merges the folders, the first one on top, read-only. The kernel splits them at ":", which PCI addresses hold."""
    mount("overlay", target, "overlay", options="lowerdir=" + ":".join(path.replace(":", "\\:") for path in lower))


def prctl(option: int, *values) -> None:
    padded = [ctypes.c_ulong(value) for value in values] + [ctypes.c_ulong(0)] * (4 - len(values))
    _check(_libc.prctl(ctypes.c_int(option), *padded), f"prctl {option}")


def name_process(name: str) -> None:
    """What ps shows as the command's name; at most 15 bytes."""
    buffer = ctypes.create_string_buffer(name.encode()[:15])
    prctl(PR_SET_NAME, ctypes.addressof(buffer))


def become_root_of_user_namespace(uid: int, gid: int) -> None:
    """Maps root to the caller, right after unshare(CLONE_NEWUSER); there is no other user in the namespace then."""
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)


# Number of the architecture in seccomp's data, and the calls setgroups, chown, fchown, lchown and fchownat there.
_CALLS = {"x86_64": (0xC000003E, (116, 92, 93, 94, 260)), "aarch64": (0xC00000B7, (159, 55, 54))}


def seccomp_program(machine: str) -> bytes:
    """A filter that answers the calls above with success and lets all others pass."""
    architecture, calls = _CALLS[machine]

    def instruction(code: int, yes: int, no: int, value: int) -> bytes:
        return struct.pack("=HBBI", code, yes, no, value)
    load, equal, give = 0x20, 0x15, 0x06
    count = len(calls)
    program = [instruction(load, 0, 0, 4), instruction(equal, 0, count + 1, architecture), instruction(load, 0, 0, 0)]
    program += [instruction(equal, count - k, 0, call) for k, call in enumerate(calls)]
    allow, succeed = 0x7FFF0000, 0x00050000
    return b"".join(program + [instruction(give, 0, 0, allow), instruction(give, 0, 0, succeed)])


def pretend_ownership_changes() -> None:
    """Installs that filter for this process and all it starts: with a single user, Slurm's calls would fail."""
    machine = platform.machine()
    if machine not in _CALLS:
        raise ClusterError(f"no seccomp filter for {machine}, only for {', '.join(_CALLS)}: run as root")
    code = ctypes.create_string_buffer(seccomp_program(machine))
    program = ctypes.create_string_buffer(struct.pack("@HP", (len(code) - 1) // 8, ctypes.addressof(code)))
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(program))


def stat_fields(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat from the state on, or None when there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


def start_time(pid: int) -> int | None:
    """When the process began, which tells it from a later one with its number; None when it has ended."""
    fields = stat_fields(pid)
    return None if fields is None or fields[0] in "ZX" else int(fields[19])


def children(pid: int) -> list[int]:
    """The children of all threads of a process, as numbered in the /proc of the caller."""
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
                found += map(int, file.read().split())
    except (FileNotFoundError, ProcessLookupError):
        pass
    return found


def pid_in_parent_namespace(pid: int) -> int | None:
    """The number of a namespace's init as its parent namespace counts."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
            numbers = next(line.split()[1:] for line in file if line.startswith("NSpid:"))
    except (FileNotFoundError, ProcessLookupError, StopIteration):
        return None
    return int(numbers[-2]) if len(numbers) > 1 else None


def kill_and_wait(pid: int, started: int, seconds: float) -> bool:
    """Kills the process that began at `started` and waits for its end; False when it is still there after that time."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        if start_time(pid) != started:
            return True
        signal.pidfd_send_signal(handle, signal.SIGKILL)
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        return bool(poll.poll(seconds * 1000))
    finally:
        os.close(handle)
