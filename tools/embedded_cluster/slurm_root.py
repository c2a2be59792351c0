# SPDX-License-Identifier: Apache-2.0
"""Where the cluster's programs come from: this machine, or a folder with a Debian of its own that has another Slurm."""

import codecs
import os
import re
import shutil
import subprocess
from pathlib import Path

from . import linux
from .errors import NOT_POSSIBLE, ClusterError, bad_input
from .state import INSIDE

PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
VARIABLE = "NCCL_TUNE_SLURM_ROOT"  # the root of a cluster that is started without --slurm-root
STATUS = "var/lib/dpkg/status"
MADE_BY = "python3 -m tools.testing.roots makes one"
PACKAGES = {"slurmctld": "slurmctld", "slurmd": "slurmd", "sinfo": "slurm-client", "srun": "slurm-client",
            "munged": "munge", "ip": "iproute2"}
NEEDED = ("dev", "etc/group", "etc/hosts", "etc/passwd", "home", "proc", "root", "run", "sys", "tmp")


class SlurmRoot:
    """A root folder: `/` is this machine itself."""

    def __init__(self, path: Path = Path("/")):
        self.path = path

    @property
    def is_host(self) -> bool:
        """Whether the cluster runs what this machine has."""
        return self.path == Path("/")

    def _has(self, program: str) -> bool:
        if self.is_host:
            return shutil.which(program, path=PATH) is not None
        # Its links may be absolute, and lead elsewhere seen from here.
        return any(os.path.lexists(f"{self.path}{folder}/{program}") for folder in PATH.split(":"))

    def check_programs(self) -> None:
        """Raises when a program is missing, with the package that has it."""
        missing = [name for name in PACKAGES if not self._has(name)]
        if missing:
            where = PATH if self.is_host else f"{PATH} below {self.path}"
            packages = " ".join(dict.fromkeys(PACKAGES[name] for name in missing))
            raise ClusterError(f"programs: got no {', '.join(missing)} in {where}, expected them installed; "
                               f"on Debian: apt-get install --no-install-recommends {packages}", NOT_POSSIBLE)

    def slurm_version(self) -> str:
        """The version of slurmd: 24.11.5. Not asked of the program of another root, which not every user can enter."""
        if self.is_host:
            done = subprocess.run(["slurmd", "-V"], env={"PATH": PATH}, capture_output=True, text=True, check=True)
            return done.stdout.split()[-1]
        try:
            status = (self.path / STATUS).read_text(encoding="utf-8", errors="replace")
        except OSError:
            status = ""
        for entry in status.split("\n\n"):
            version = re.search(r"^Version: (?:\d+:)?([0-9.]+)", entry, re.MULTILINE)
            if entry.startswith("Package: slurmd\n") and version:
                return version[1]
        raise bad_input("--slurm-root", str(self.path), f"a Debian root in which slurmd is installed; {MADE_BY}")

    @property
    def release(self) -> str:
        """By what Slurm takes or refuses a plugin: 24.11."""
        return ".".join(self.slurm_version().split(".")[:2])

    def enter(self, state: Path, read_only: bool) -> Path:
        """Makes it the root of this mount namespace, with the machine's /dev and /sys, and gives back where the state
        folder is then: what is not mounted in the new root is out of reach. Does nothing for the machine's own."""
        if self.is_host:
            return state
        codecs.lookup("ascii")  # Python loads it at first use, from a folder that is out of reach then
        new = str(self.path)
        linux.bind(new, new)
        if read_only:
            linux.mount("", new, flags=linux.MS_REMOUNT | linux.MS_BIND | linux.MS_RDONLY)
        for folder in ("/dev", "/sys"):
            linux.bind(folder, new + folder, recursive=True)
        linux.mount("proc", new + "/proc", "proc")
        linux.tmpfs(new + "/run")
        os.mkdir(new + INSIDE)
        linux.bind(str(state), new + INSIDE)
        linux.pivot_root(new)
        return Path(INSIDE)


def select(option: str | None) -> SlurmRoot:
    """The root that --slurm-root or the environment names; the machine's own when neither does."""
    what, given = ("--slurm-root", option) if option is not None else (VARIABLE, os.environ.get(VARIABLE, "/"))
    root = SlurmRoot(Path(given))
    if not os.path.isabs(given):
        raise bad_input(what, given, "an absolute path")
    missing = [] if root.is_host else [name for name in NEEDED if not (root.path / name).exists()]
    if missing:
        raise bad_input(what, given, f"a Debian root, which has {', '.join(missing)}; {MADE_BY}")
    return root
