# SPDX-License-Identifier: Apache-2.0
"""The network of the cluster as batches for the ip command: bridges in the head, a veth pair for each interface."""

import ipaddress
import subprocess
from collections import Counter

from . import addressing
from .errors import ClusterError
from .machines import Node
from .slurm_root import PATH


def run_batch(lines: list[str], go_on: bool = False) -> None:
    """Runs one ip command for all lines; `go_on` goes on after one that fails. Raises ClusterError with its words."""
    command = ["ip", *(["-force"] if go_on else []), "-batch", "-"]
    done = subprocess.run(command, input="\n".join(lines) + "\n", env={"PATH": PATH}, text=True, capture_output=True)
    if done.returncode and not go_on:
        raise ClusterError("ip: " + " ".join(done.stderr.split()))
    if done.stderr:
        print("ip: " + " ".join(done.stderr.split()), flush=True)


def _mtu(dev: addressing.Netdev) -> int:
    return max(1280, min(dev.mtu, 9000))


class Plan:
    """Which bridge each interface is on and which addresses the head has."""

    def __init__(self, nodes: list[Node]):
        self.nodes = nodes
        uses = Counter(address for node in nodes for address in
                       {ip.ip for dev in node.netdevs for ip in dev.addresses if dev.up})
        self.shared = {address for address, count in uses.items() if count > 1}
        self.bridges: dict[ipaddress.IPv4Network | ipaddress.IPv6Network, str] = {}
        for network in (self._network(dev) for node in nodes for dev in node.netdevs):
            if network:
                self.bridges.setdefault(network, f"bridge{len(self.bridges)}")
        self.head: dict[ipaddress.IPv4Network, ipaddress.IPv4Address] = {}
        for node in nodes:
            self.head.setdefault(node.addr.network, next(ip for ip in node.addr.network.hosts() if ip not in uses))

    def _network(self, dev: addressing.Netdev):
        """The network by which an interface is bridged; one whose address another node has too stays alone."""
        alone = not dev.up or not dev.addresses or any(ip.ip in self.shared for ip in dev.addresses)
        return None if alone else min(dev.addresses, key=lambda ip: ip.version).network

    def head_address(self) -> str:
        """Where slurmctld listens."""
        return str(next(iter(self.head.values())))

    def head_lines(self) -> list[str]:
        """Makes the bridges; only those of management networks get an address."""
        lines = ["link set lo up"]
        for network, bridge in self.bridges.items():
            lines += [f"link add {bridge} type bridge", f"link set {bridge} up"]
            if network in self.head:
                lines.append(f"address add {self.head[network]}/{network.prefixlen} dev {bridge}")
        return lines

    def cable_lines(self, pids: dict[str, int]) -> list[str]:
        """Makes the interfaces of all nodes, one end in the node and one on its bridge."""
        lines = []
        for node in self.nodes:
            for number, dev in enumerate(node.netdevs, start=1):
                end, network = f"n{node.number}x{number}", self._network(dev)
                lines.append(f"link add {end} mtu {_mtu(dev)} type veth peer name {dev.name} mtu {_mtu(dev)} "
                             f"address {addressing.mac_of(node.number, number)} netns {pids[node.name]}")
                if network:
                    lines.append(f"link set {end} master {self.bridges[network]}")
                if dev.up:
                    lines.append(f"link set {end} up")
        return lines

    def node_lines(self, node: Node) -> list[str]:
        """Gives a node's interfaces their addresses; those that are down in the capture stay down."""
        lines = ["link set lo up"]
        for dev in node.netdevs:
            if not dev.up:
                continue
            lines.append(f"link set {dev.name} up")
            for ip in dev.addresses:
                extra = " nodad" if ip.version == 6 else " broadcast +" if ip.network.prefixlen < 31 else ""
                lines.append(f"address add {ip.with_prefixlen} dev {dev.name}{extra}")
        return lines

    def route_lines(self, node: Node) -> list[str]:
        """The routes of the capture over a gateway, and the way to management networks that the node is not on."""
        up = {dev.name for dev in node.netdevs if dev.up}
        lines = [f"route add {network} via {self.head[node.addr.network]}" for network in self.head
                 if network != node.addr.network]
        listed = "ip-route.json" in node.capture.entries
        for route in addressing.load_json(node.capture, "ip-route.json") if listed else []:
            try:
                gateway = ipaddress.ip_address(route["gateway"])
                to = "default" if route["dst"] == "default" else ipaddress.ip_network(route["dst"], strict=False)
            except (KeyError, ValueError):
                continue
            if route.get("dev") in up:
                metric = f" metric {route['metric']}" if isinstance(route.get("metric"), int) else ""
                lines.append(f"route add {to} via {gateway} dev {route['dev']}{metric}")
        return lines
