# SPDX-License-Identifier: Apache-2.0
"""Which capture serves which node: reads the --machine options and gives each node its machine."""

from dataclasses import dataclass
from pathlib import Path

from . import addressing, capture
from .errors import BAD_INPUT, ClusterError, bad_input

CLONE = Path(__file__).resolve().parents[2]
HOSTS = CLONE / "tests" / "hosts"
MOST_NODES = 60


@dataclass
class Node:
    """A node of the cluster: its name, its number from 1 on, and the machine it shows."""

    name: str
    number: int
    machine: str
    capture: capture.Capture
    netdevs: list[addressing.Netdev]
    addr: addressing.Interface

    @property
    def gpus(self) -> int:
        """How many GPUs Slurm should know there."""
        return count_gpus(self.capture)


def count_gpus(machine: capture.Capture) -> int:
    """PCI functions of NVIDIA that are display controllers: class 0x03."""
    folders = (path.rpartition("/")[0] for path, entry in machine.entries.items()
               if path.endswith("/class") and entry.value.startswith("0x03") and path.startswith("sys/devices/pci"))
    return sum(machine.text(f"{folder}/vendor") == "0x10de\n" for folder in folders)


def find(name: str) -> Path:
    """The file of a capture given by name or path."""
    path = HOSTS / f"{name}.capture"
    if "/" not in name and path.is_file():
        return path
    if Path(name).is_file():
        return Path(name).resolve()
    known = ", ".join(sorted(file.stem for file in HOSTS.glob("*.capture"))) or "none"
    raise bad_input("--machine", name, f"the path of a capture or one of: {known}")


def _choices(count: int, options: list[str]) -> tuple[dict[str, Path], set[str]]:
    """The file of each node, and the nodes for which it was given by name."""
    names = [f"server{number}" for number in range(1, count + 1)]
    general = [option for option in options if "=" not in option]
    if len(general) > 1:
        raise bad_input("--machine", " ".join(general), "one for all nodes, or NODE=NAME for each")
    chosen: dict[str, Path] = {}
    for node, _, name in (option.partition("=") for option in options if "=" in option):
        if node not in names:
            raise bad_input("--machine", f"{node}={name}", f"a node from server1 to server{count}")
        if node in chosen:
            raise bad_input("--machine", f"{node}={name}", "each node once")
        chosen[node] = find(name)
    given = set(chosen)
    for name in names:
        own = HOSTS / f"{name}.capture"
        default = find(general[0]) if general else own if own.is_file() else HOSTS / "server1.capture"
        chosen.setdefault(name, default)
    return {name: chosen[name] for name in names}, given


def _node(name: str, number: int, path: Path, machine: capture.Capture, keep: bool) -> Node:
    shown = addressing.for_node(machine, number, keep)
    where = path.stem if path.parent == HOSTS else str(path)
    return Node(name, number, where + ("" if keep else ", re-addressed"), shown, addressing.netdevs(shown),
                addressing.node_addr(shown))


def _refuse_equal_addresses(nodes: list[Node]) -> None:
    seen: dict[str, str] = {}
    for node in nodes:
        address = str(node.addr.ip)
        if address in seen:
            raise ClusterError(f'{node.capture.where}: node-addr of {node.name}: got "{address}", expected another '
                               f"one than that of {seen[address]}; change the capture, or give one capture for both "
                               "nodes: it is then re-addressed", BAD_INPUT)
        seen[address] = node.name


def select(count: int, options: list[str]) -> list[Node]:
    """The nodes of a cluster of `count`, for these --machine options. Raises ClusterError for a bad one."""
    if not 1 <= count <= MOST_NODES:
        raise bad_input("--nodes", str(count), f"1 to {MOST_NODES}")
    chosen, given = _choices(count, options)
    uses = list(chosen.values())
    read = {path: capture.read(path) for path in dict.fromkeys(uses)}
    nodes = []
    for number, (name, path) in enumerate(chosen.items(), start=1):
        machine = read[path]
        made_for_it = path == HOSTS / f"{name}.capture"
        keep = made_for_it or (name in given and uses.count(path) == 1)
        nodes.append(_node(name, number, path, machine, keep))
    _refuse_equal_addresses(nodes)
    return nodes
