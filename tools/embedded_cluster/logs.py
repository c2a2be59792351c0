# SPDX-License-Identifier: Apache-2.0
"""The last lines of the cluster's logs."""

import re

from .errors import bad_input
from .state import State

WINDOW = 64 << 10


def tail(path, count: int) -> list[str]:
    """The last `count` lines of a file."""
    with open(path, "rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - WINDOW))
        return file.read().decode(errors="replace").splitlines()[-count:]


def _shown(paths, count: int) -> str:
    parts = [(path.name, tail(path, count)) for path in paths]
    return "".join(f"--- {name}\n" + "".join(line + "\n" for line in lines) for name, lines in parts if lines)


def after_failure(state: State, message: str) -> list[str]:
    """The last lines of the head and of the nodes that the message names, and of what their daemons printed."""
    names = {"head", "slurmctld", *re.findall(r"server[0-9]+", message)}
    files = sorted(state.logs.iterdir()) if state.logs.is_dir() else []
    return _shown((path for path in files if path.name.split(".")[0] in names), 4).splitlines()


def tail_of_all(state: State, count: int, node: str | None = None) -> str:
    """The last lines of every log, or of those of one node, each under its name."""
    if count < 1:
        raise bad_input("--lines", str(count), "1 or more")
    files = sorted(state.logs.glob("*.log"))
    if node == "head":
        files = [path for path in files if path.name.startswith(("head.", "slurmctld."))]
    elif node is not None:
        files = [path for path in files if path.name.split(".")[0] == node]
        if not files:
            raise bad_input("NODE", node, "head or a node that has logs in " + str(state.logs))
    return _shown(files, count)
