# SPDX-License-Identifier: Apache-2.0
"""Our Debian packages in a fresh Debian root, with the dependencies that apt finds there. docs/operators.md."""
import os
import shutil
import subprocess
import tempfile
import time

from tools.testing import cases, stages
from tools.testing.cases import Case

DEBS = tuple(f"bazel-bin/packaging/{name}.deb" for name in ("nccl-tune-slurm-plugin", "nccl-tune", "nccl-bench"))
NAMESPACES = ("unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private")
SCRIPT = "tools/testing/fresh_root.sh"
MIRROR = "http://deb.debian.org/debian"


def reason_to_skip(user, suite, found):
    """Why there can be no root here, or nothing; `found` is where debootstrap is."""
    if user != 0:
        return "needs root"
    if not suite:
        return "this machine's /etc/os-release names no suite of Debian"
    return "" if found else "needs debootstrap: apt-get install debootstrap"


def suite_of(text):
    """The suite in the text of /etc/os-release of a Debian, or nothing."""
    values = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    return values.get("VERSION_CODENAME", "").strip('"') if values.get("ID", "").strip('"') == "debian" else ""


class Packages:
    """Makes the packages and the root, and runs the script of the cases there."""

    name = "packages"

    def __init__(self, script=SCRIPT, namespaces=NAMESPACES):
        self.script, self.namespaces = script, namespaces

    def run(self):
        """One case a step."""
        with open("/etc/os-release", encoding="utf-8", errors="replace") as file:
            suite = suite_of(file.read())
        skip = reason_to_skip(os.geteuid(), suite, shutil.which("debootstrap", path="/usr/sbin:/usr/bin"))
        if skip:
            return [Case("packages: all", 0.0, cases.SKIPPED, skip)]
        started = time.time()
        if stages.bazel(["build", "--noshow_progress", "//packaging:deb"]):
            return [Case("packages: build", time.time() - started, cases.FAILED, "the packages could not be made")]
        os.makedirs(".roots", exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="packages.", dir=".roots") as folder:
            return self.collect([*self.namespaces, self.script, suite, MIRROR, os.path.abspath(folder), *DEBS])

    @staticmethod
    def collect(command):
        """The cases of a command that prints TAP; one more when it ended before its last."""
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True, errors="replace")
        found, planned = [], 0
        for line in process.stdout:
            print(line, end="", flush=True)
            planned = int(line[3:]) if line.startswith("1..") else planned
            case = cases.from_tap_line("packages", line.rstrip("\n"))
            if case:
                found.append(case)
        status = process.wait()
        failed = any(case.outcome == cases.FAILED for case in found)
        if not failed and (status or not planned or planned != len(found)):
            detail = f"ended with {status} after {len(found)} of {planned} cases"
            found.append(Case("packages: all", 0.0, cases.FAILED, detail))
        return found
