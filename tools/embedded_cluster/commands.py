# SPDX-License-Identifier: Apache-2.0
"""The command line of tools/cluster: one function for each command."""

import argparse
import io
import os
import signal
import subprocess
import sys
from pathlib import Path

from . import enter, fixture, linux, logs, machines, slurm_root
from .errors import FAILED, ClusterError, Interrupted, bad_input, one_line, words_of
from .state import State, wait_until
from .up import KILL_SECONDS, up

INTERRUPTED = 128


def _up(state: State, options: argparse.Namespace) -> int:
    up(state, machines.select(options.nodes, options.machine), options.bin, slurm_root.select(options.slurm_root))
    return 0


def _down(state: State, _options: argparse.Namespace) -> int:
    """Kills the head and removes the state folder. The lock is free when nothing of the cluster runs any more."""
    if not state.there():
        print(f'cluster "{state.name}" is not up')
        return 0
    held: list[int] = []

    def free() -> bool:
        head = state.head()
        if head:
            linux.kill_and_wait(*head, KILL_SECONDS)
        lock = state.lock()
        held.extend([] if lock is None else [lock])
        return bool(held)
    if not wait_until(free, KILL_SECONDS):
        raise ClusterError(f"{state.folder}: its lock is still held after {KILL_SECONDS} s, expected it free; "
                           "see who holds it: fuser -v " + str(state.folder / "lock"), FAILED)
    state.remove()
    print(f'cluster "{state.name}" is down')
    return 0


def _run(state: State, options: argparse.Namespace) -> int:
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command or not command[0]:
        raise bad_input("CMD", "", "a command to run")
    return enter.run(state, command, options.node, options.user)


def _shell(state: State, options: argparse.Namespace) -> int:
    return enter.run(state, ["bash", "--norc", "-i"], options.node, what="NODE")


def _slurm_states(state: State) -> dict[str, str]:
    """What Slurm says of each node; the query runs inside, in a process of its own."""
    script = Path(__file__).resolve().parents[1] / "cluster"
    command = [str(script), "run", "--name", state.name, "sinfo", "-h", "-N", "-o", "%N %T"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return {}
    return dict(line.split(" ", 1) for line in done.stdout.splitlines() if " " in line)


def _status(state: State, _options: argparse.Namespace) -> int:
    head = state.head()
    if head is None:
        stale = " (a former one ended without `down`; `up` and `down` clean it)" if state.there() else ""
        print(f'cluster "{state.name}" is not up{stale}\nhint: tools/cluster up{state.option}')
        return FAILED
    about, alive, slurm = state.about(), state.node_pids(), _slurm_states(state)
    how = "without root" if about["rootless"] else "as root"
    print(f'cluster "{state.name}": head {head[0]}, {how}, {one_line(str(state.folder))}')
    print(f"{'NODE':<10} {'STATE':<12} {'ADDRESS':<15} {'GPUS':<4} MACHINE")
    down = [node["name"] for node in about["nodes"] if node["name"] not in alive]
    for node in about["nodes"]:
        shown = "down" if node["name"] in down else slurm.get(node["name"], "unknown")
        print(f"{node['name']:<10} {shown:<12} {node['address']:<15} {node['gpus']:<4} {one_line(node['machine'])}")
    if down:
        print(f"hint: the init of {', '.join(down)} has ended; start again: {state.again()}")
    else:
        print(f"hint: tools/cluster run{state.option} srun -N{len(about['nodes'])} hostname; "
              f"tools/cluster shell{state.option} server1")
    return 0


def _logs(state: State, options: argparse.Namespace) -> int:
    if not state.logs.is_dir():
        raise state.not_up()
    print(logs.tail_of_all(state, options.lines, options.node), end="")
    return 0


def _set(state: State, options: argparse.Namespace) -> int:
    names = [node["name"] for node in state.about()["nodes"]]
    if options.node not in names:
        raise bad_input("NODE", options.node, ", ".join(names))
    fixture.change(state.nodes / options.node, options.path, options.value)
    return 0


class _Parser(argparse.ArgumentParser):
    def error(self, message: str):
        if self.prog.endswith(" set"):
            message += '; a VALUE that begins with "-" needs "--" before it: set NODE PATH -- VALUE'
        super().error(one_line(message))


def _options() -> argparse.ArgumentParser:
    parser = _Parser(prog="tools/cluster", description="A Slurm cluster inside one process tree.")
    commands = parser.add_subparsers(dest="verb", required=True, metavar="COMMAND")

    def command(name: str, function, about: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=about, description=about, allow_abbrev=False)
        added.add_argument("--name", default="default", help="which cluster (default: default)")
        added.set_defaults(function=function)
        return added
    one = command("up", _up, "start a cluster")
    one.add_argument("--nodes", type=int, default=3, help="number of nodes (default 3)")
    one.add_argument("--machine", action="append", default=[], metavar="[NODE=]NAME",
                     help="capture to show, of tests/hosts or by path; for all nodes or for one")
    one.add_argument("--bin", metavar="DIR", help="folder with the built product (default bazel-bin)")
    one.add_argument("--slurm-root", metavar="DIR", help="a Debian root whose Slurm to run (default: this machine's)")
    one = command("run", _run, "run a command on the head or a node")
    one.add_argument("--user", default="root", help="as this user, alice for example; only if started as root")
    one.add_argument("--node", default="head", help="on this node (default: the head)")
    one.add_argument("command", nargs=argparse.REMAINDER, metavar="CMD")
    command("shell", _shell, "a shell on the head or a node").add_argument("node", nargs="?", default="head")
    command("status", _status, "nodes, their states and machines")
    one = command("logs", _logs, "last lines of the logs")
    one.add_argument("node", nargs="?", help="only of this node, or head")
    one.add_argument("--lines", type=int, default=20, help="of each log (default 20)")
    one = command("set", _set, "change a file of a node while it runs")
    for name in ("node", "path", "value"):
        one.add_argument(name, metavar=name.upper())
    command("down", _down, "stop a cluster and remove all of it")
    return parser


def main(arguments: list[str]) -> int:
    """Runs a command and gives back the exit status; errors go to standard error."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        options = _options().parse_args(arguments)
        state = State(options.name)
        state.there()  # no command does anything with a folder that is not ours
        status = options.function(state, options)
        sys.stdout.flush()
        return status
    except ClusterError as error:
        print("\n".join(map(one_line, (f"cluster: {error}", *error.details))), file=sys.stderr)
        return error.status
    except Interrupted as error:
        print("cluster: interrupted, nothing is left of it", file=sys.stderr)
        return INTERRUPTED + error.number
    except KeyboardInterrupt:
        return INTERRUPTED + signal.SIGINT
    except (OSError, UnicodeError, subprocess.SubprocessError) as error:
        if not isinstance(error, BrokenPipeError):
            print("cluster: " + one_line(words_of(error)), file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is still to be written may be what failed
        return FAILED
