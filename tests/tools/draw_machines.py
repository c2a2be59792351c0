#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Draws captures of small GPU servers with one dual-port RoCE card, and says what NCCL should be told on each.

    draw_machines.py --reference --out DIR          the committed server1.capture to server3.capture
    draw_machines.py --seed S --nodes N --out DIR   names, addresses, port and GID index by chance, and expected.json

The right answer is known by construction: one port is active, and one GID is RoCE v2 and holds the address of the
fabric; the twin port is down and the other GIDs are link-local, of version 1 or empty.
"""

import argparse
import ipaddress
import json
import random
import sys
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import machine_text as text  # noqa: E402

V1, V2 = "IB/RoCE v1", "RoCE v2"
GID_SLOTS = 16
NODES_AT_MOST = 60


@dataclass
class Function:
    """A PCI function below a root port of its own, on one NUMA node."""

    root: str  # of the hierarchy: pci0000:00
    bridge: str  # 0000:00:03.0
    address: str  # 0000:03:00.1
    numa: int = 0

    @property
    def folder(self) -> str:
        return f"sys/devices/{self.root}/{self.bridge}/{self.address}"


@dataclass
class Port:
    """A port of the RoCE card, with the interface that belongs to it and its GIDs by index: (GID, type)."""

    device: str
    number: int
    function: Function
    netdev: str
    up: bool
    gids: dict[int, tuple[str, str]] = field(default_factory=dict)


@dataclass
class Machine:
    """Everything that differs between two drawn machines."""

    node: int
    gpu: Function
    management: Function
    management_netdev: str
    management_addr: ipaddress.IPv4Interface
    fabric_addr: ipaddress.IPv4Interface
    ports: list[Port]
    cpus: list[str]  # a CPU list for each NUMA node

    @property
    def name(self) -> str:
        return f"server{self.node}"

    def mac(self, interface: int) -> str:
        return f"02:00:5e:00:{self.node:02x}:{interface:02x}"

    def link_local(self, interface: int) -> ipaddress.IPv6Address:
        return ipaddress.IPv6Address(f"fe80::5eff:fe00:{self.node:02x}{interface:02x}")

    def active(self) -> Port:
        return next(port for port in self.ports if port.up)


def gid_of(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str:
    """The address as sysfs prints a GID."""
    full = address if address.version == 6 else ipaddress.IPv6Address(f"::ffff:{address}")
    return full.exploded


def reference(node: int) -> Machine:
    """Server `node` of the reference cluster: mlx5_1 is the cabled port, its GID 3 the right one."""
    def function(number: int, sub: int = 0) -> Function:
        return Function("pci0000:00", f"0000:00:{number:02x}.0", f"0000:{number:02x}:00.{sub}")
    machine = Machine(node, function(2), function(1), "eno1",
                      ipaddress.IPv4Interface(f"10.0.0.{10 + node}/24"),
                      ipaddress.IPv4Interface(f"172.16.0.{10 + node}/24"),
                      [Port("mlx5_0", 1, function(3), "ens11f0", False),
                       Port("mlx5_1", 1, function(3, 1), "ens11f1", True)], ["0-15"])
    down, up = machine.ports
    local = [gid_of(machine.link_local(2)), gid_of(machine.link_local(3))]
    down.gids = {0: (local[0], V1), 1: (local[0], V2)}
    fabric = gid_of(machine.fabric_addr.ip)
    up.gids = {0: (local[1], V1), 1: (local[1], V2), 2: (fabric, V1), 3: (fabric, V2)}
    return machine


class Dice:
    """Draws what a machine of this kind may differ in. The same seed draws the same machines."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)

    def subnets(self) -> list[ipaddress.IPv4Network]:
        third = self.random.sample(range(0, 250), 2)
        first = [self.random.choice(["10.{}", "172.{}", "192.168"]) for _ in third]
        second = {"10.{}": (1, 250), "172.{}": (16, 31), "192.168": (0, 0)}
        return [ipaddress.IPv4Network(f"{a.format(self.random.randint(*second[a]))}.{b}.0/24")
                for a, b in zip(first, third)]

    def hosts(self, count: int) -> list[int]:
        return self.random.sample(range(2, 250), count)

    def functions(self) -> tuple[Function, Function, Function]:
        """Of the management card, the GPU and the RoCE card, each below another root."""
        buses = sorted(self.random.sample(range(1, 15), 3))
        self.random.shuffle(buses)
        numas = [self.random.randint(0, 1) for _ in buses]
        drawn = []
        for bus, numa in zip(buses, numas):
            slot = self.random.randint(1, 9)
            drawn.append(Function(f"pci0000:{bus:x}0", f"0000:{bus:x}0:{slot:02x}.0", f"0000:{bus:x}1:00.0", numa))
        return drawn[0], drawn[1], drawn[2]

    def netdevs(self, card: Function) -> tuple[str, str, str]:
        """Of the management card and the two ports."""
        bus, slot = int(card.address[5:7], 16), self.random.randint(10, 40)
        twins = self.random.choice([(f"ens{slot}f0", f"ens{slot}f1"), (f"enp{bus}s0f0np0", f"enp{bus}s0f1np1"),
                                    ("eth2", "eth3"), (f"ens{slot}f0np0", f"ens{slot}f1np1"), ("rdma0", "rdma1")])
        return self.random.choice(["eno1", "eth0", "enp1s0f0", "em1", "ens3"]), *twins

    def devices(self, card: Function) -> list[str]:
        bus, first = int(card.address[5:7], 16), self.random.randint(0, 11)
        return self.random.choice([[f"mlx5_{first}", f"mlx5_{first + 1}"], ["mlx5_1", "mlx5_11"],
                                   [f"rocep{bus}s0f0", f"rocep{bus}s0f1"], ["roceo1", "roceo2"]])

    def ports(self, card: Function, netdevs: tuple[str, str]) -> list[Port]:
        """Two devices with port 1 each or one device with ports 1 and 2; one of them is cabled."""
        names = self.devices(card)
        if self.random.random() < 0.5:
            return [Port(names[0], 1, card, netdevs[0], False), Port(names[0], 2, card, netdevs[1], True)]
        twin = Function(card.root, card.bridge, card.address[:-1] + "1", card.numa)
        up = self.random.randint(0, 1)
        return [Port(names[k], 1, (card, twin)[k], netdevs[k], k == up) for k in (0, 1)]

    def gids(self, local: str, fabric: str, right: int) -> dict[int, tuple[str, str]]:
        """The right GID at index `right`; before it and behind it decoys and holes."""
        others = [k for k in range(max(GID_SLOTS, right + 4)) if k != right]
        table = dict.fromkeys([0] + self.random.sample(others, min(6, len(others))), (local, V2))
        for index in table:
            table[index] = self.random.choice([(local, V1), (local, V2), (fabric, V1)])
        table[right] = (fabric, V2)
        return table


def drawn(node: int, dice: Dice, management: ipaddress.IPv4Interface, fabric: ipaddress.IPv4Interface) -> Machine:
    """A machine by chance, for server `node`, with these addresses."""
    management_card, gpu, card = dice.functions()
    first, *twins = dice.netdevs(card)
    cpus = ["0-7", "8-15"]
    machine = Machine(node, gpu, management_card, first, management, fabric, dice.ports(card, tuple(twins)), cpus)
    for number, port in enumerate(machine.ports, start=2):
        local = gid_of(machine.link_local(number))
        if port.up:
            port.gids = dice.gids(local, gid_of(fabric.ip), dice.random.randint(1, 40))
        else:
            port.gids = {0: (local, V1), 1: (local, V2)}
    return machine


def draw(seed: int, count: int) -> list[Machine]:
    """`count` machines that share a management subnet and a fabric subnet, and nothing else."""
    dice = Dice(seed)
    management, fabric = dice.subnets()
    pairs = zip(dice.hosts(count), dice.hosts(count))
    return [drawn(node, dice, ipaddress.IPv4Interface(f"{management[a]}/24"),
                  ipaddress.IPv4Interface(f"{fabric[b]}/24"))
            for node, (a, b) in enumerate(pairs, start=1)]


def expected(machine: Machine) -> dict[str, str]:
    """What NCCL should be told on this machine."""
    port = machine.active()
    fabric = gid_of(machine.fabric_addr.ip)
    right = [index for index, gid in port.gids.items() if gid == (fabric, V2)]
    assert len(right) == 1
    return {"NCCL_IB_HCA": f"={port.device}:{port.number}", "NCCL_IB_GID_INDEX": str(right[0]),
            "NCCL_SOCKET_IFNAME": f"={port.netdev}"}


def count_of_nodes(value: str) -> int:
    if not value.isdecimal() or not 1 <= int(value) <= NODES_AT_MOST:
        raise argparse.ArgumentTypeError(f'got "{value}", expected 1 to {NODES_AT_MOST}')
    return int(value)


def main() -> int:
    parser = argparse.ArgumentParser(description="Draws captures of small GPU servers.")
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument("--reference", action="store_true", help="write server1 to server3 as committed")
    kind.add_argument("--seed", type=int, help="draw by this seed")
    parser.add_argument("--nodes", type=count_of_nodes, default=3, help="how many with --seed (default 3)")
    parser.add_argument("--out", type=Path, required=True, help="folder to write to")
    options = parser.parse_args()
    machines = [reference(node) for node in (1, 2, 3)] if options.reference else draw(options.seed, options.nodes)
    options.out.mkdir(parents=True, exist_ok=True)
    source = "tests/tools/draw_machines.py " + ("--reference" if options.reference else f"--seed {options.seed}")
    for machine in machines:
        (options.out / f"{machine.name}.capture").write_text(text.capture(machine, source), encoding="utf-8")
    if not options.reference:
        answers = {machine.name: expected(machine) for machine in machines}
        (options.out / "expected.json").write_text(json.dumps(answers, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
