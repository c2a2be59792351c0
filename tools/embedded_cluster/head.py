# SPDX-License-Identifier: Apache-2.0
"""The init of the head: login node, controller and switch. Everything else of the cluster is below it and dies with it.

Until `up` has sent the commit byte, the end of its pipe means that `up` is gone, and the head ends at once.
"""

import json
import os
import socket
import subprocess
import sys
import threading
import traceback
from dataclasses import dataclass
from pathlib import Path

from . import linux, network, node
from .errors import ClusterError, words_of
from .machines import Node
from .slurm_root import SlurmRoot
from .state import INSIDE, State, replace_file, wait_until

READY_SECONDS = 20
SINFO_SECONDS = 3  # it goes on asking a controller that does not answer
COMMIT = b"C"


@dataclass
class Ends:
    """The head's ends of the pipes to `up`: it reads the commit byte from one and tells by the other how it went."""

    commit: int
    report: int


def _end_with_up(commit: int) -> None:
    if os.read(commit, 1) != COMMIT:
        os._exit(1)
    os.close(commit)


def _mount_all(state: State, rootless: bool, root: SlurmRoot) -> None:
    """Root, proc, /run, /tmp and homes of our own; a handle keeps the state folder, as it may be below one of them."""
    folder = root.enter(state.folder, read_only=not rootless)
    handle = os.open(folder, os.O_PATH | os.O_CLOEXEC)
    linux.mount("proc", "/proc", "proc")
    linux.tmpfs("/run")
    for folder in (INSIDE, "/run/munge"):
        os.mkdir(folder)
    linux.bind(f"/proc/self/fd/{handle}", INSIDE)
    os.close(handle)
    for name in ("hosts", "passwd", "group"):
        linux.bind(f"{INSIDE}/conf/{name}", f"/etc/{name}")
    linux.tmpfs("/tmp", "1777")
    linux.tmpfs("/dev/shm", "1777")
    linux.tmpfs("/root", "700")
    linux.tmpfs("/home")
    if not rootless:
        os.mkdir(f"{INSIDE}/home")
        os.mkdir(f"{INSIDE}/home/alice", 0o755)
        os.chown(f"{INSIDE}/home/alice", 2001, 2001)
        os.mkdir("/home/alice")
        linux.bind(f"{INSIDE}/home/alice", "/home/alice")


def _start_controller() -> dict[int, str]:
    """munged and slurmctld of the head, by pid."""
    os.mkdir(f"{INSIDE}/munge", 0o700)
    with open(os.open(f"{INSIDE}/munge/key", os.O_WRONLY | os.O_CREAT, 0o400), "wb") as file:
        file.write(os.urandom(128))
    munged = node.start(node.munged_command("/run/munge/munged.log"), "head.munged.out")
    if not wait_until(lambda: os.path.exists("/run/munge/munge.socket.2") or munged.poll() is not None, 5):
        raise ClusterError("munged made no socket within 5 seconds")
    os.mkdir(f"{INSIDE}/controller", 0o700)
    slurmctld = node.start(["slurmctld", "-D"], "slurmctld.out")
    return {munged.pid: "munged", slurmctld.pid: "slurmctld"}


def _run_node(one: Node, plan: network.Plan, cabled: int) -> None:
    try:
        node.run(one, plan, cabled)
    except BaseException:  # pid 1 must not return into the code of the process that forked it
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(1)


def _spawn_node(one: Node, plan: network.Plan) -> tuple[int, int]:
    """Starts a node's init; gives back its pid here and the pipe by which it waits for its interfaces."""
    pid_read, pid_write = os.pipe()
    cabled_read, cabled_write = os.pipe()
    helper = os.fork()
    if helper == 0:
        try:
            linux.unshare(linux.NODE_NAMESPACES)
            pid = os.fork()
            if pid == 0:
                os.close(cabled_write)
                os.close(pid_read)
                os.close(pid_write)
                _run_node(one, plan, cabled_read)
            os.write(pid_write, str(pid).encode())
        except OSError:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(0)
    for end in (pid_write, cabled_read):
        os.close(end)
    os.waitpid(helper, 0)
    answer = os.read(pid_read, 32)
    os.close(pid_read)
    if not answer:
        raise ClusterError(f"{one.name}: could not make its namespaces")
    return int(answer), cabled_write


def _start_nodes(nodes: list[Node], plan: network.Plan) -> dict[str, int]:
    """Starts all nodes and connects them; gives back their pids."""
    pids, pipes = {}, []
    for one in nodes:
        pids[one.name], pipe = _spawn_node(one, plan)
        pipes.append(pipe)
    network.run_batch(plan.cable_lines(pids))
    for pipe in pipes:
        try:
            os.write(pipe, b"C")
        except BrokenPipeError:
            pass  # its init has ended already; the wait for readiness tells
        os.close(pipe)
    return pids


def _not_idle(names) -> list[str]:
    """The nodes that Slurm does not find idle, with what it says of them."""
    try:
        done = subprocess.run(["sinfo", "-h", "-N", "-o", "%N %t"], env=node.ENVIRONMENT, capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, timeout=SINFO_SECONDS)
        said = dict(line.split(" ", 1) for line in done.stdout.splitlines() if " " in line)
    except subprocess.TimeoutExpired:
        said = {}
    return [f"{name} {said.get(name, 'unknown')}" for name in names if said.get(name) != "idle"]


def _dead(pids: dict[str, int]) -> list[str]:
    return [name for name, pid in pids.items() if linux.start_time(pid) is None]


def _wait_for_nodes(pids: dict[str, int], daemons: dict[int, str]) -> None:
    """Waits until Slurm finds all nodes idle. Whatever ends meanwhile ends the wait."""
    watched = pids | {name: pid for pid, name in daemons.items()}
    if not wait_until(lambda: _dead(watched) or not _not_idle(pids), READY_SECONDS):
        raise ClusterError(f"after {READY_SECONDS} seconds not idle: " + ", ".join(_not_idle(pids)))
    if _dead(watched):
        raise ClusterError("ended while starting: " + ", ".join(_dead(watched)))


def _bring_up(state: State, nodes: list[Node], plan: network.Plan, rootless: bool, root: SlurmRoot) -> dict[int, str]:
    linux.mount("", "/", flags=linux.MS_REC | linux.MS_PRIVATE)
    _mount_all(state, rootless, root)
    socket.sethostname("head")
    network.run_batch(plan.head_lines())
    if len(plan.head) > 1:
        with open("/proc/sys/net/ipv4/ip_forward", "w", encoding="ascii") as file:
            file.write("1")
    daemons = _start_controller()
    pids = _start_nodes(nodes, plan)
    replace_file(Path(f"{INSIDE}/pids.json"), json.dumps(pids) + "\n")
    _wait_for_nodes(pids, daemons)
    return daemons | {pid: name for name, pid in pids.items()}


def run(state: State, nodes: list[Node], plan: network.Plan, rootless: bool, root: SlurmRoot, ends: Ends) -> None:
    """Pid 1 of the head. Returns only when the cluster did not start; the process must end then, and all with it."""
    os.umask(0o022)
    os.chdir("/")
    linux.name_process("cluster-head")
    node.log_to(str(state.logs / "head.log"))
    threading.Thread(target=_end_with_up, args=(ends.commit,), daemon=True).start()
    try:
        names = _bring_up(state, nodes, plan, rootless, root)
    except (ClusterError, OSError, subprocess.SubprocessError) as error:
        os.write(ends.report, words_of(error).encode())
        return
    os.write(ends.report, b"ready")
    os.close(ends.report)
    node.reap_forever(names)
