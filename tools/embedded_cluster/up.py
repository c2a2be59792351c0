# SPDX-License-Identifier: Apache-2.0
"""`tools/cluster up`: checks what is needed, writes the state folder, starts the head and waits until all is ready."""

import os
import select
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path

from . import fixture, head, linux, logs, namespaces, network, slurm_conf
from .errors import FAILED, NOT_POSSIBLE, ClusterError, Interrupted, bad_input, words_of
from .machines import CLONE, Node
from .slurm_root import SlurmRoot
from .state import State

PRODUCT_VARIABLE = "NCCL_TUNE_BIN"  # the product of a cluster that is started without --bin
KILL_SECONDS = 15
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def check_folder(state: State) -> None:
    """Raises when no program or plugin could be loaded from the state folder."""
    if os.statvfs(state.folder).f_flag & os.ST_NOEXEC:
        raise ClusterError(f"{state.folder}: got a mount with noexec, expected one that programs and plugins can be "
                           "loaded from; set NCCL_TUNE_CLUSTER_DIR to a folder on another mount", NOT_POSSIBLE)


def _write_state(state: State, nodes: list[Node], plan: network.Plan, rootless: bool, build: Path,
                 root: SlurmRoot) -> None:
    state.clear()
    state.folder.chmod(0o755)
    state.logs.mkdir()
    for node in nodes:
        fixture.lay_out(node, state.nodes / node.name)
    slurm_conf.write(state, nodes, plan.head_address(), rootless, root)
    missing = slurm_conf.install_product(state, build, root)
    if missing:
        print(f"cluster: {build}: not built, left out: {', '.join(missing)}", file=sys.stderr)
    about = [{"name": node.name, "machine": node.machine, "address": str(node.addr.ip), "gpus": node.gpus}
             for node in nodes]
    state.write_about({"rootless": rootless, "nodes": about})


class HeadProcess:
    """The head as `up` sees it: its pid and the pipes to it."""

    def __init__(self, state: State, nodes: list[Node], plan: network.Plan, rootless: bool, root: SlurmRoot, lock: int):
        commit_read, self.commit = os.pipe()
        self.report, report_write = os.pipe()
        pid_read, pid_write = os.pipe()
        starter = os.fork()
        if starter == 0:
            _close_all_but({0, 1, 2, lock, commit_read, report_write, pid_write})
            _starter(lambda: head.run(state, nodes, plan, rootless, root, head.Ends(commit_read, report_write)),
                     rootless, pid_write)
        for end in (commit_read, report_write, pid_write):
            os.close(end)
        answer = os.read(pid_read, 4096).decode()
        os.close(pid_read)
        os.waitpid(starter, 0)
        if not answer.isdecimal():
            raise ClusterError(f"head: cannot start its process: {answer or 'it ended at once'}", FAILED)
        self.pid = int(answer)
        self.started = linux.start_time(self.pid) or 0

    def wait_until_ready(self) -> None:
        """Raises when the head says that it failed, ends, or says nothing for too long."""
        poll = select.poll()
        poll.register(self.report, select.POLLIN)
        said = os.read(self.report, 4096) if poll.poll((head.READY_SECONDS + 10) * 1000) else b"no answer"
        if said != b"ready":
            said = "; ".join(said.decode(errors="replace").splitlines())
            raise ClusterError("head: " + (said or "it was killed"), FAILED)

    def keep(self) -> None:
        """From here on the head lives without `up`."""
        try:
            os.write(self.commit, head.COMMIT)
        except BrokenPipeError as error:
            raise ClusterError("head: it was killed", FAILED) from error

    def kill(self) -> None:
        if not linux.kill_and_wait(self.pid, self.started, KILL_SECONDS):
            raise ClusterError(f"head: process {self.pid} still there {KILL_SECONDS} s after SIGKILL", FAILED)


def _close_all_but(kept: set[int]) -> None:
    """Whoever started `up` may wait for the end of a pipe that it gave us."""
    for handle in map(int, os.listdir("/proc/self/fd")):
        if handle not in kept:
            try:
                os.close(handle)
            except OSError:
                pass  # the one by which the folder was listed


def _starter(run_head, rootless: bool, pid_write: int) -> None:
    """The process between `up` and the head: makes the namespaces, forks the head into them, ends."""
    for number in ENDING:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    try:
        os.setsid()
        namespaces.enter_new(rootless)
        pid = os.fork()
        if pid == 0:
            os.close(pid_write)
            if rootless:
                linux.pretend_ownership_changes()
            run_head()
        else:
            os.write(pid_write, str(pid).encode())
    except BrokenPipeError:
        pass  # `up` is gone; the head sees it too
    except BaseException as error:  # nothing may return into the code of `up`
        traceback.print_exc()
        try:
            os.write(pid_write, words_of(error).encode())
        except OSError:
            pass  # this is the head, which has closed it
    finally:
        sys.stderr.flush()
        os._exit(0)


def _start(state: State, nodes: list[Node], rootless: bool, build: Path, root: SlurmRoot, lock: int) -> None:
    """Starts the cluster; on any failure or interrupt nothing of it is left but, after a failure, its logs."""
    process = None
    try:
        plan = network.Plan(nodes)
        _write_state(state, nodes, plan, rootless, build, root)
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)  # no head may be started of which we do not know
        process = HeadProcess(state, nodes, plan, rootless, root, lock)
        state.write_head(process.pid)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
        process.wait_until_ready()
        process.keep()
    except BaseException as error:
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)  # until this process ends: nothing stops the clean-up
        if process:
            process.kill()
        if isinstance(error, ClusterError) and state.logs.is_dir():
            tail = logs.after_failure(state, str(error))
            state.clear(but=("lock", "logs"))
            raise ClusterError(str(error), error.status, (*tail, f"all logs: {state.logs}")) from error
        state.remove()
        if isinstance(error, (OSError, UnicodeError, subprocess.SubprocessError)):
            raise ClusterError(f"{state.folder}: cannot write this state folder: {words_of(error)}; set "
                               "NCCL_TUNE_CLUSTER_DIR to a folder with more space") from error
        raise


def _interrupt(number, _frame):
    raise Interrupted(number)


def up(state: State, nodes: list[Node], build: str | None, root: SlurmRoot) -> None:
    """Starts the cluster and returns when every node is idle."""
    began = time.monotonic()
    what, given = ("--bin", build) if build is not None else (PRODUCT_VARIABLE, os.environ.get(PRODUCT_VARIABLE))
    folder = CLONE / "bazel-bin" if given is None else Path(given)
    if given is not None and (not given or not folder.is_dir()):
        raise bad_input(what, given, "a folder with the built product")
    rootless = os.geteuid() != 0 or namespaces.has_one_user()
    os.umask(0o022)
    for number in ENDING:
        signal.signal(number, _interrupt)
    lock = state.lock()
    if lock is None:
        raise ClusterError(f'cluster "{state.name}" is already up or being started (state folder {state.folder}); '
                           f"stop it first: tools/cluster down{state.option}", FAILED)
    try:
        check_folder(state)
        root.check_programs()
        namespaces.check(rootless)
    except BaseException:
        state.remove()
        raise
    _start(state, nodes, rootless, folder, root, lock)
    print(f'cluster "{state.name}" is up: {len(nodes)} nodes in {time.monotonic() - began:.1f} s; '
          f"try: tools/cluster run{state.option} srun -N{len(nodes)} hostname")
