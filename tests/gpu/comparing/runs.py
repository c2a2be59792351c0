# SPDX-License-Identifier: Apache-2.0
"""Runs nccl-bench and nccl-tests with the same NCCL, and keeps what they print.

A kept run is a text file: what ran, then stdout and stderr byte for byte, each with its length before it.
"""
import os
import re
import shlex
import shutil
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

OURS, THEIRS = "ours", "theirs"
LIMIT_SECONDS = 150  # one run
HOST_MASK = "h"
MPI = ("mpirun", "--allow-run-as-root", "--oversubscribe", "-np")
# Two ranks on one GPU are a test only: they pass for ranks of different hosts, which NCCL refuses otherwise.
WRAPPER = '#!/bin/sh\nNCCL_HOSTID=rank$OMPI_COMM_WORLD_RANK exec "$@"\n'
TWO_RANKS = {"NCCL_TESTS_DEVICE": "0", "NCCL_SOCKET_IFNAME": "lo"}


class Missing(Exception):
    """Something that the machine must have is not there; the text says what and what to do."""


@dataclass
class Run:
    """One run of one program."""

    command: str
    environment: dict
    status: int
    stdout: str
    stderr: str = ""
    report: str = ""  # a JSON file that it wrote; kept beside
    seconds: float = 0.0

    def text(self):
        """As it is kept."""
        variables = shlex.join(f"{name}={value}" for name, value in self.environment.items())
        out = f"command: {self.command}\nenvironment: {variables}\nstatus: {self.status}\nseconds: {self.seconds:.1f}\n"
        for name, content in (("stdout", self.stdout), ("stderr", self.stderr)):
            out += f"{name}: {len(content)} characters\n{content}\n"
        return out


def from_text(text):
    """A kept run. ValueError: it is none."""
    head = re.match(r"command: (.*)\nenvironment: (.*)\nstatus: (-?\d+)\nseconds: ([\d.]+)\n", text)
    if not head:
        raise ValueError("does not begin with the lines command, environment, status, seconds")
    at, parts = head.end(), []
    for name in ("stdout", "stderr"):
        length = re.compile(rf"{name}: (\d+) characters\n").match(text, at)
        if not length:
            raise ValueError(f"has no line \"{name}: N characters\" where it is due")
        end = length.end() + int(length[1])
        if text[end : end + 1] != "\n":
            raise ValueError(f"{name} is not {length[1]} characters long")
        parts.append(text[length.end() : end])
        at = end + 1
    if at != len(text):
        raise ValueError("goes on after stderr")
    variables = dict(pair.split("=", 1) for pair in shlex.split(head[2]))
    return Run(head[1], variables, int(head[3]), *parts, seconds=float(head[4]))


def scrubbed(text, host, folder):
    """Without the names of this host (as many characters stay) and its folders."""
    text = text.replace(folder + "/", "")
    for part in filter(None, host.split(".", 1)):
        text = re.sub(rf"(?<![\w-]){re.escape(part)}(?![\w-])", HOST_MASK * len(part), text)
    return text


@dataclass
class Machine:
    """Where the programs and libraries are."""

    ours: Path
    theirs: Path  # without MPI
    theirs_mpi: Path
    nccl: Path
    libraries: list = field(default_factory=list)  # folders for the loader

    def environment(self):
        """For both programs alike: nothing of the caller's that changes what is measured or printed."""
        out = {k: v for k, v in os.environ.items() if not k.startswith(("NCCL_TESTS_", "NCCL_BENCH_", "NCCL_DEBUG"))}
        folders = [str(folder) for folder in self.libraries] + [out.get("LD_LIBRARY_PATH", "")]
        out["LD_LIBRARY_PATH"] = ":".join(folder for folder in folders if folder)
        out["NCCL_BENCH_NCCL_LIB"] = str(self.nccl)
        return out

    def program(self, side, collective, ranks):
        """The file to start. Ours stands under nccl-tests' name, as a link. Missing: it is not built."""
        name = f"{collective}_perf"
        if side == THEIRS:
            path = (self.theirs if ranks == 1 else self.theirs_mpi) / name
            if not path.is_file():
                raise Missing(f"{path} is not built: run tests/gpu/nccl_tests.sh")
            return path
        link = self.ours.parent.parent / "links" / name
        link.parent.mkdir(exist_ok=True)
        if not link.exists():
            link.symlink_to(self.ours)
        return link


def _python_nccl():
    script = "import nvidia.nccl; print(list(nvidia.nccl.__path__)[0])"
    found = subprocess.run(["python3", "-c", script], capture_output=True, text=True, check=False)
    return Path(found.stdout.strip()) / "lib/libnccl.so.2" if found.returncode == 0 else None


def _loader_nccl():
    found = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=False)
    line = re.search(r"^\s*libnccl\.so\.2 .* => (\S+)$", found.stdout, re.MULTILINE)
    return Path(line[1]) if line else None


def find_machine(gpu=".gpu"):
    """The programs below `gpu` and the NCCL that both are to use. Missing: what is not there."""
    root = Path(gpu).resolve()
    ours = root / "bin/nccl-bench"
    if not ours.is_file():
        raise Missing(f"{ours} is not there: run tools/build and tests/gpu/carry.sh, and carry .gpu here")
    asked = os.environ.get("NCCL_BENCH_NCCL_LIB")
    nccl = Path(asked) if asked else _loader_nccl() or _python_nccl()
    if not nccl or not nccl.exists():
        raise Missing("no libnccl.so.2 found: name it in NCCL_BENCH_NCCL_LIB")
    # nccl-tests is linked with the CUDA runtime's shared object.
    homes = [os.environ.get("CUDA_HOME", ""), "/usr/local/cuda", os.path.realpath(shutil.which("nvcc") or "/") + "/../.."]
    cuda = next((Path(home) for home in homes if home and (Path(home) / "bin/nvcc").is_file()), Path(homes[1]))
    libraries = [nccl.parent, *(folder for folder in (root / "lib", cuda / "lib64") if folder.is_dir())]
    tests = root / "nccl-tests"
    return Machine(ours, tests / "build", tests / "build_mpi", nccl, libraries)


def command_line(machine, side, collective, flags, ranks, folder):
    """The whole line as words."""
    words = [str(machine.program(side, collective, ranks)), *flags.split()]
    if ranks == 1:
        return words
    if not shutil.which(MPI[0]):
        raise Missing("no mpirun: two ranks need Open MPI")
    wrapper = Path(folder) / "one-host-each"
    wrapper.write_text(WRAPPER, encoding="utf-8")
    wrapper.chmod(0o755)
    return [*MPI, str(ranks), str(wrapper), *words]


def run(machine, side, collective, flags, ranks=1, variables=(), files=None, report=None):
    """One run in a folder of its own. `files`: names and texts that lie there; `report`: a file it may write there."""
    added = dict(variables) | (TWO_RANKS if ranks > 1 else {})
    with tempfile.TemporaryDirectory(prefix="compare-") as folder:
        for name, text in (files or {}).items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        words = command_line(machine, side, collective, flags, ranks, folder)
        started = time.monotonic()
        try:
            done = subprocess.run(words, cwd=folder, env=machine.environment() | added, stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=LIMIT_SECONDS, check=False)
            status, out, err = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired as late:
            status, out, err = 124, late.stdout or b"", late.stderr or b""
        seconds = time.monotonic() - started
        written = Path(folder) / report if report else None
        content = written.read_text(encoding="utf-8", errors="replace") if written and written.exists() else ""
        texts = [scrubbed(scrubbed(text, "", folder), socket.gethostname(), os.getcwd())
                 for text in (out.decode(errors="replace"), err.decode(errors="replace"), content)]
    start = "" if ranks == 1 else f"mpirun -np {ranks} one-host-each "
    return Run(f"{start}{collective}_perf {flags}", added, status, texts[0], texts[1], texts[2], seconds)
