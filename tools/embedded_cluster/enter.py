# SPDX-License-Identifier: Apache-2.0
"""Runs a command inside the cluster: enters the namespaces of the head or a node, becomes a user there, waits."""

import os
import pwd
import signal
import sys

from . import linux
from .errors import BAD_INPUT, ClusterError, bad_input, one_line
from .node import ENVIRONMENT
from .state import State

PASSED = ("TERM", "COLUMNS", "LINES")
NOT_FOUND, NOT_RUN = 127, 126


def _place(state: State, node: str, what: str) -> tuple[int, bool]:
    """The init whose namespaces to enter, and whether they are in a user namespace."""
    head = state.head()
    if head is None:
        raise state.not_up()
    about = state.about()
    if node == "head":
        return head[0], about["rootless"]
    names = [one["name"] for one in about["nodes"]]
    if node not in names:
        raise bad_input(what, node, "head, " + ", ".join(names))
    pid = state.node_pids().get(node)
    if pid is None:
        raise ClusterError(f"{node}: it is down, its init has ended; start again: {state.again()}")
    return pid, about["rootless"]


def _enter(pid: int, rootless: bool) -> None:
    """Joins the namespaces; children are in its pid namespace. Root and current folder become those of the place."""
    handle = os.pidfd_open(pid)
    flags = linux.HEAD_NAMESPACES | (linux.CLONE_NEWUSER if rootless else 0)
    linux.setns(handle, flags)
    os.close(handle)


def _environment(user: pwd.struct_passwd) -> dict[str, str]:
    passed = {name: os.environ[name] for name in PASSED if name in os.environ}
    return ENVIRONMENT | passed | {"HOME": user.pw_dir, "USER": user.pw_name, "LOGNAME": user.pw_name,
                                   "SHELL": user.pw_shell or "/bin/sh"}


def _become(user: pwd.struct_passwd) -> None:
    if user.pw_uid != 0:
        os.setgroups([])
        os.setgid(user.pw_gid)
        os.setuid(user.pw_uid)
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)  # after setuid, which clears it


def _exec(command: list[str], user: pwd.struct_passwd) -> None:
    """Becomes the command, or ends with the status that shells give."""
    status = NOT_RUN
    try:
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        environment = _environment(user)
        _become(user)
        os.chdir(user.pw_dir if os.path.isdir(user.pw_dir) else "/")
        os.execvpe(command[0], command, environment)
    except FileNotFoundError:
        status = NOT_FOUND
        print(f"cluster: {one_line(command[0])}: no such program inside the cluster", file=sys.stderr)
    except Exception as error:  # this process must end here, and with a word
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        print(f"cluster: {one_line(command[0])}: {one_line(reason)}", file=sys.stderr)
    finally:
        sys.stderr.flush()
        os._exit(status)


def _find_user(name: str, rootless: bool) -> pwd.struct_passwd:
    if rootless and name != "root":
        raise ClusterError(f'--user: got "{name}", expected root: this cluster was started without root and has no '
                           "other user", BAD_INPUT)
    try:
        return pwd.getpwnam(name)
    except KeyError as error:
        raise bad_input("--user", name, "a user of the cluster, root or alice for example") from error


def _wait_for(child: int) -> int:
    """Waits for the command, passing on the signals that only this process gets."""
    handle = os.pidfd_open(child)

    def pass_on(number, _frame):
        try:
            signal.pidfd_send_signal(handle, number)
        except ProcessLookupError:
            pass  # it has ended by itself
    for number in (signal.SIGINT, signal.SIGQUIT):  # the terminal sends these to the child too
        signal.signal(number, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, pass_on)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status if status >= 0 else 128 - status


def run(state: State, command: list[str], node: str = "head", user: str = "root", what: str = "--node") -> int:
    """Runs the command and gives back its exit status; 128 + the number of the signal that ended it.

    `what` is the option by which the node was given, for messages."""
    pid, rootless = _place(state, node, what)
    try:
        _enter(pid, rootless)
    except OSError as error:
        raise ClusterError(f"{node}: cannot enter its namespaces: {error.strerror}; a cluster can be entered by the "
                           "user who started it") from error
    account = _find_user(user, rootless)
    os.umask(0o022)
    child = os.fork()
    if child == 0:
        _exec(command, account)
    return _wait_for(child)
