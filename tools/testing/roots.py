# SPDX-License-Identifier: Apache-2.0
"""Debian roots with other Slurms than the machine's, made once and kept in .roots of the clone. docs/testing.md.

  python3 -m tools.testing.roots RELEASE     makes the root if need be, prints its folder and the version of Slurm in it
"""
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

CLONE = Path(__file__).resolve().parents[2]
ROOTS = CLONE / ".roots"
SCRIPT = Path(__file__).resolve().with_name("make_root.sh")
MARKER = ".nccl-tune-root"  # in a root: what it was made from, and the version of its Slurm
OTHER_RELEASE = 4  # exit status of the script

SUITES = {"24.11": "trixie", "26.05": "sid"}
# What the cluster needs (tools/packages.txt has the reasons), and what tests run in it.
PACKAGES = ("slurmctld", "slurmd", "slurm-client", "slurm-wlm-basic-plugins", "munge", "iproute2", "procps", "python3",
            "binutils", "strace")
# MPI is started by --mpi=pmix in our tests, which sid's Slurm has not, and so are the launcher's payloads; nccl-launch is
# linked with PMIx.
MORE_PACKAGES = {"24.11": ("openmpi-bin", "ibverbs-providers", "python3-torch", "python3-mpi4py"),
                 "26.05": ("libpmix2t64",)}
# All of the work ends with this process, however that ends.
NAMESPACES = ("setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child",
              "--propagation", "private")


class Unavailable(Exception):
    """Why there is no root of a release: a reason to skip what needs one."""


@dataclass(frozen=True)
class Root:
    """A root that is whole: where it is, whose release, which version of Slurm is in it (as Debian counts)."""

    release: str
    path: Path
    version: str

    @property
    def include(self) -> Path:
        """The include folder with its Slurm's headers, and with nothing else."""
        return self.path / "opt" / "slurm" / "include"


def packages(release):
    """What is installed in the root of a release."""
    return (*PACKAGES, *MORE_PACKAGES.get(release, ()))


def recipe(release):
    """What a root is made from; one made from something else is made again."""
    words = [SCRIPT.read_text(encoding="utf-8"), SUITES[release], *packages(release)]
    return hashlib.sha256("\0".join(words).encode()).hexdigest()


def find(release):
    """The root of a release if it is there and whole, else None."""
    path = ROOTS / release
    try:
        marker = json.loads((path / MARKER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return Root(release, path, marker["version"]) if marker.get("recipe") == recipe(release) else None


def mirror():
    """Where this machine gets Debian's packages from."""
    try:
        done = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Label: Debian"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
        listed = [line for line in done.stdout.split("\n") if line.startswith("http")]
    except OSError:
        listed = []
    return listed[0] if listed else "http://deb.debian.org/debian/"


@contextmanager
def _lock():
    """One at a time makes roots in this clone."""
    ROOTS.mkdir(exist_ok=True)
    with open(ROOTS / "lock", "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _replace(old, new):
    """Puts a whole root in the place of one that is missing, incomplete or outdated."""
    if old.exists():
        away = old.with_name(f".{old.name}.old")
        shutil.rmtree(away, ignore_errors=True)
        old.rename(away)
        shutil.rmtree(away)
    new.rename(old)


def _make(release):
    new = ROOTS / f".{release}.new"
    shutil.rmtree(new, ignore_errors=True)  # of a run that was ended; nothing is mounted there
    done = subprocess.run([*NAMESPACES, str(SCRIPT), SUITES[release], release, mirror(), str(new), *packages(release)],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    said = done.stdout.strip()
    if done.returncode:
        shutil.rmtree(new, ignore_errors=True)
        sys.stderr.write(done.stderr)
        raise Unavailable(said if done.returncode == OTHER_RELEASE else
                          f"{SUITES[release]} could not be installed: {(done.stderr.strip().splitlines() or ['no word'])[-1]}")
    new.chmod(0o755)
    (new / MARKER).write_text(json.dumps({"recipe": recipe(release), "version": said}), encoding="utf-8")
    _replace(ROOTS / release, new)


def ready(release):
    """The root of a release, made if need be (minutes, and packages from the network). Raises Unavailable."""
    root = find(release)
    if root:
        return root
    if os.geteuid() != 0:
        raise Unavailable("no root of it yet, and one is made as root only")
    with _lock():
        root = find(release)
        if not root:
            if subprocess.run([CLONE / "tools" / "setup", "roots"], check=False).returncode:
                raise Unavailable("tools/setup roots failed")
            started = time.time()
            _make(release)
            root = find(release)
            print(f"made a root of {SUITES[release]} in {time.time() - started:.0f} s", flush=True)
    return root


def main(words):
    """The command; returns the exit status."""
    if len(words) != 1 or words[0] not in SUITES:
        print(f'roots: got "{" ".join(words)}", expected one of {", ".join(SUITES)}', file=sys.stderr)
        return 2
    try:
        root = ready(words[0])
    except Unavailable as error:
        print(f"roots: {words[0]}: {error}", file=sys.stderr)
        return 1
    print(f"{root.path}: Slurm {root.version}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
