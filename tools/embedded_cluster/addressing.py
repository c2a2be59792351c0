# SPDX-License-Identifier: Apache-2.0
"""Addresses of a capture: reads its interfaces and routes, and gives it other addresses for another node.

Re-addressed for node i, the last byte of every IPv4 address becomes 10 + i (32 more for a second one in the same /24,
and so on), the last group of every global IPv6 address likewise. Networks of fewer than 32 addresses keep theirs; only
the one of node-addr is taken to be a /24 then, as the head must have an address in it. MAC addresses are always ours,
so the link-local addresses and GIDs made from them follow.
"""

import ipaddress
import json
import posixpath
import re
from dataclasses import dataclass, field, replace

from .capture import FILE, LINK, Capture, Entry
from .errors import BAD_INPUT, ClusterError

STRIDE = 32
ETHERNET_MTU = 1500
SMALLEST_NETWORK = 27  # prefix of 32 addresses; host 10 + i must fit
INTERFACE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,14}")
Interface = ipaddress.IPv4Interface | ipaddress.IPv6Interface


@dataclass
class Netdev:
    """A network interface: flags as `ip -j addr` shows them, global addresses, MAC address."""

    name: str
    up: bool
    mtu: int
    mac: str
    addresses: list[Interface] = field(default_factory=list)


def mac_of(node: int, interface: int) -> str:
    """The locally administered MAC of interface 1, 2, ... of a node."""
    return f"02:00:5e:00:{node & 0xff:02x}:{interface & 0xff:02x}"


def link_local(mac: str) -> ipaddress.IPv6Address | None:
    """The link-local address that the kernel makes from a MAC; None when it is not a MAC of six bytes."""
    try:
        octets = bytes(int(part, 16) for part in mac.split(":"))
    except ValueError:
        return None
    if len(octets) != 6:
        return None
    host = bytes([octets[0] ^ 2]) + octets[1:3] + b"\xff\xfe" + octets[3:]
    return ipaddress.IPv6Address(b"\xfe\x80" + bytes(6) + host)


def load_json(capture: Capture, path: str) -> list[dict]:
    """The list of objects in ip-addr.json or ip-route.json."""
    text = capture.text(path)
    if text is None:
        raise ClusterError(f"{capture.where}: {path}: got no such file, expected one as the ip command prints it; "
                           "a node without it cannot be reached", BAD_INPUT)
    where = f"{capture.where}:{capture.entries[path].line}: {path}"
    try:
        value = json.loads(text)
    except ValueError as error:
        raise ClusterError(f"{where}: {error}, expected JSON as the ip command prints it", BAD_INPUT) from error
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ClusterError(f'{where}: got "{text[:40].strip()}", expected a list of objects', BAD_INPUT)
    return value


def attribute(capture: Capture, name: str, file: str) -> str | None:
    """What sys/class/net/NAME/FILE holds in the capture, through its link; None when there is no such file."""
    folder = f"sys/class/net/{name}"
    link = capture.entries.get(folder)
    if link and link.kind == LINK:
        folder = posixpath.normpath(f"sys/class/net/{link.value}")
    text = capture.text(f"{folder}/{file}")
    return None if text is None else text.strip()


def _one_netdev(capture: Capture, item: dict, where: str) -> Netdev:
    """One object of `ip -j addr`; state and MTU come from sysfs where a capture's short form leaves them out."""
    try:
        found = []
        for address in item["addr_info"]:
            if address.get("scope") == "global" and "local" in address:
                found.append(ipaddress.ip_interface(f"{address['local']}/{address['prefixlen']}"))
        name = item["ifname"]
        if not isinstance(name, str) or not INTERFACE_NAME.fullmatch(name):
            raise ValueError(f'ifname: got "{name}", expected the name of an interface')
        state = str(item.get("operstate") or attribute(capture, name, "operstate") or "unknown").upper()
        mtu = item.get("mtu") or attribute(capture, name, "mtu") or ETHERNET_MTU
        mac = item.get("address") or attribute(capture, name, "address") or ""
        return Netdev(name, "UP" in item["flags"] and state in ("UP", "UNKNOWN"), int(mtu), str(mac), found)
    except (KeyError, TypeError, ValueError) as error:
        raise ClusterError(f"{where}: {item.get('ifname', 'an interface')}: {error!s}", BAD_INPUT) from error


def netdevs(capture: Capture) -> list[Netdev]:
    """The interfaces of the machine but the loopback, in the order of the capture."""
    listed = load_json(capture, "ip-addr.json")
    where = f"{capture.where}:{capture.entries['ip-addr.json'].line}: ip-addr.json"
    found = [_one_netdev(capture, item, where) for item in listed
             if "LOOPBACK" not in item.get("flags", []) and item.get("link_type") != "loopback"]
    names = [dev.name for dev in found]
    for name in names:
        if names.count(name) > 1:
            raise ClusterError(f'{where}: ifname: got "{name}" twice, expected each interface once', BAD_INPUT)
    return found


def node_addr(capture: Capture) -> ipaddress.IPv4Interface:
    """The node's address in Slurm: the label's, else that of the default route's interface."""
    here = netdevs(capture)
    ipv4 = [(dev.name, ip) for dev in here for ip in dev.addresses if ip.version == 4 and dev.up]
    wanted = capture.labels.get("node-addr")
    if wanted:
        chosen = [ip for _, ip in ipv4 if str(ip.ip) == wanted]
    else:
        default = [route.get("dev") for route in load_json(capture, "ip-route.json") if route.get("dst") == "default"]
        chosen = [ip for name, ip in ipv4 if name in default] or [ip for _, ip in ipv4]
    if not chosen:
        have = ", ".join(str(ip.ip) for _, ip in ipv4) or "none"
        raise ClusterError(f'{capture.where}: node-addr: got "{wanted or ""}", expected an IPv4 address of an '
                           f"interface that is up; those are: {have}", BAD_INPUT)
    return chosen[0]


def widen(capture: Capture) -> Capture:
    """The capture with node-addr in a /24 when its network is too small for a cluster: clouds give a node a /32."""
    addr = node_addr(capture)
    if addr.network.prefixlen <= SMALLEST_NETWORK:
        return capture
    listed = load_json(capture, "ip-addr.json")
    for info in (info for item in listed for info in item["addr_info"] if info.get("local") == str(addr.ip)):
        info["prefixlen"] = 24
    old = capture.entries["ip-addr.json"]
    return replace(capture, entries=capture.entries | {"ip-addr.json": replace(old, value=json.dumps(listed) + "\n")})


def _moved(ip: Interface, node: int, rank: int) -> str:
    number = 10 + node + STRIDE * rank
    if ip.version == 6:
        return str(ipaddress.IPv6Address(int(ip.ip) & ~0xFFFF | number))
    keep = min(32 - ip.network.prefixlen, 8)
    if number >= (1 << keep) - 1:
        raise ClusterError(f'node {node}: got host part {number}, expected at most {(1 << keep) - 2} in {ip.network}; '
                           "use fewer nodes or give each node its own capture: --machine NODE=NAME", BAD_INPUT)
    return str(ipaddress.IPv4Address((int(ip.ip) >> keep << keep) | number))


def new_addresses(here: list[Netdev], node: int) -> dict[str, str]:
    """Old address to new one, for all that move."""
    moves: dict[str, str] = {}
    ranks: dict[int, int] = {}
    for ip in (ip for dev in here for ip in dev.addresses):
        if str(ip.ip) in moves or (ip.version == 4 and ip.network.prefixlen > SMALLEST_NETWORK):
            continue
        place = int(ip.ip) >> (8 if ip.version == 4 else 16)
        moves[str(ip.ip)] = _moved(ip, node, ranks.get(place, 0))
        ranks[place] = ranks.get(place, 0) + 1
    return moves


def _gid(address: str) -> str:
    ip = ipaddress.ip_address(address)
    return (ip if ip.version == 6 else ipaddress.IPv6Address(f"::ffff:{ip}")).exploded


def _is_gid(path: str) -> bool:
    parts = path.split("/")
    return len(parts) > 4 and parts[-2] == "gids" and parts[-4] == "ports"


def _rewrite_json(values: list[dict], moves: dict[str, str], macs: dict[str, str]) -> str:
    """The same list with addresses replaced wherever a whole value is one."""
    def change(value):
        if isinstance(value, dict):
            return {key: change(item) for key, item in value.items()}
        if isinstance(value, list):
            return [change(item) for item in value]
        return moves.get(value, macs.get(value, value)) if isinstance(value, str) else value
    return json.dumps(change(values), separators=(",", ":")) + "\n"


def for_node(capture: Capture, node: int, keep_addresses: bool) -> Capture:
    """The capture as node number `node` shows it: our MACs, and other addresses unless they are kept."""
    capture = widen(capture)
    here = netdevs(capture)
    moves = {} if keep_addresses else new_addresses(here, node)
    macs = {}
    for number, dev in enumerate(here, start=1):
        macs[dev.mac] = mac_of(node, number)
        old, new = link_local(dev.mac), link_local(mac_of(node, number))
        if old:
            moves.setdefault(str(old), str(new))
    gids = {_gid(old): _gid(new) for old, new in moves.items()}
    changed = dict(capture.entries)
    for path in ("ip-addr.json", "ip-route.json"):
        if path in changed:
            changed[path] = replace(changed[path], value=_rewrite_json(load_json(capture, path), moves, macs))
    for path, entry in capture.entries.items():
        if entry.kind == FILE and _is_gid(path):
            gid = entry.value.strip()
            changed[path] = Entry(FILE, gids.get(gid, gid) + "\n", entry.line)
    labels = dict(capture.labels)
    if "node-addr" in labels:
        labels["node-addr"] = moves.get(labels["node-addr"], labels["node-addr"])
    return Capture(capture.where, labels, changed)
