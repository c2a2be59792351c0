# SPDX-License-Identifier: Apache-2.0
"""A script that measures on the login node of an embedded cluster of its own."""
import os
import shutil
import subprocess
import tempfile

CLUSTER = "perf"
BIN = "/run/cluster/bin"
TOOL = "tools/cluster"


def measure(run_json, script, arguments, nodes, programs=(), before=()):
    """What a script of this folder prints as JSON there.

    `programs` lie beside it; `before` are words that its command begins with, salloc for one."""
    with tempfile.TemporaryDirectory(prefix="nccl-tune-perf.") as folder:
        os.chmod(folder, 0o755)
        os.environ["NCCL_TUNE_CLUSTER_DIR"] = folder
        subprocess.run([TOOL, "up", "--name", CLUSTER, "--nodes", str(nodes)], check=True, stdout=subprocess.DEVNULL)
        try:
            for path in (script, *programs):
                shutil.copy(path, os.path.join(folder, CLUSTER, "bin"))
            return run_json([TOOL, "run", "--name", CLUSTER, *before, "/usr/bin/python3",
                             f"{BIN}/{os.path.basename(script)}", *map(str, arguments)])
        finally:
            subprocess.run([TOOL, "down", "--name", CLUSTER], check=False, stdout=subprocess.DEVNULL)
