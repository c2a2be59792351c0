# SPDX-License-Identifier: Apache-2.0
"""The init of a node: mounts and addresses, munged and slurmd, then nothing but reaping."""

import os
import signal
import socket
import subprocess

from . import fixture, linux, network
from .errors import ClusterError
from .machines import Node
from .slurm_root import PATH
from .state import INSIDE

ENVIRONMENT = {"PATH": f"{INSIDE}/bin:{PATH}", "LC_ALL": "C", "SLURM_CONF": f"{INSIDE}/conf/slurm.conf",
               "HOME": "/root", "USER": "root", "LOGNAME": "root", "SHELL": "/bin/sh"}


def start(command: list[str], log: str) -> subprocess.Popen:
    """Starts a daemon with a clean environment; its output goes to a file in the logs."""
    with open(f"{INSIDE}/logs/{log}", "ab") as file:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, env=ENVIRONMENT, cwd="/")


def munged_command(log: str) -> list[str]:
    """munged with the cluster's key; its socket is where all clients look, in a /run of the node's own."""
    return ["munged", "--foreground", "--force", f"--key-file={INSIDE}/munge/key", "--socket=/run/munge/munge.socket.2",
            "--pid-file=/run/munge/munged.pid", "--seed-file=/run/munge/seed", f"--log-file={log}", "--num-threads=2"]


def fresh_run() -> None:
    """A /run of our own in which only the state folder is as before. A handle reaches it once /run is covered."""
    handle = os.open(INSIDE, os.O_PATH | os.O_CLOEXEC)
    linux.tmpfs("/run")
    os.mkdir(INSIDE)
    linux.bind(f"/proc/self/fd/{handle}", INSIDE)
    os.close(handle)
    os.mkdir("/run/munge")


def reap_forever(names: dict[int, str]) -> None:
    """What pid 1 is for. The daemons in `names` are missed with a line in the log when they end."""
    while True:
        try:
            pid, status = os.waitpid(-1, 0)
        except ChildProcessError:
            signal.pause()  # no daemon is left; only being killed ends this
        else:
            if pid in names:
                print(f"{names.pop(pid)} ended with {os.waitstatus_to_exitcode(status)}", flush=True)


def log_to(log: str) -> None:
    """Sends this process's own output to a file; its input is nothing."""
    null = os.open("/dev/null", os.O_RDONLY)
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(null, 0)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.close(null)
    os.close(file)


def run(node: Node, plan: network.Plan, cabled: int) -> None:
    """Pid 1 of a node. Goes on with the network when a byte comes from `cabled`: its interfaces are there then."""
    linux.name_process(node.name)
    log_to(f"{INSIDE}/logs/{node.name}.init.log")
    socket.sethostname(node.name)
    linux.mount("proc", "/proc", "proc")
    fresh_run()
    linux.tmpfs("/tmp", "1777")
    fixture.mount_dev(node)
    if os.read(cabled, 1) != b"C":
        raise ClusterError("the head ended before it made the interfaces")
    os.close(cabled)
    network.run_batch(plan.node_lines(node))
    network.run_batch(plan.route_lines(node), go_on=True)
    fixture.mount_sys(node)
    munged = start(munged_command("/run/munge/munged.log"), f"{node.name}.munged.out")
    slurmd = start(["slurmd", "-D", "-N", node.name], f"{node.name}.slurmd.out")
    reap_forever({munged.pid: "munged", slurmd.pid: "slurmd"})
