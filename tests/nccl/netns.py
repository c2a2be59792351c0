# SPDX-License-Identifier: Apache-2.0
"""Interfaces of a table row or of a captured machine, laid out in a network namespace of this process's own."""

import ipaddress
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

CLONE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(CLONE / "tools"))

from embedded_cluster import addressing, linux  # noqa: E402

# IPv6 on, and no link-local addresses of the kernel's own: the machine's are given.
SWITCHES = {"all/disable_ipv6": "0", "default/disable_ipv6": "0", "default/addr_gen_mode": "1"}
UP, DOWN, NO_CARRIER = "UP", "DOWN", "NOCARRIER"


@dataclass
class Interface:
    """A name, whether it is switched on and has a link, and its addresses in the kernel's order."""

    name: str
    state: str = UP
    addresses: list[str] = field(default_factory=list)


def parse(text):
    """The interfaces of a row: "lo 127.0.0.1/8; eth0 NOCARRIER 10.0.0.5/24"."""
    found = []
    for part in text.split(";"):
        words = part.split()
        if not words:
            raise ValueError(f'interfaces: got "{text}", expected a name between semicolons')
        one = Interface(words[0])
        for word in words[1:]:
            if word in (DOWN, NO_CARRIER):
                one.state = word
            else:
                one.addresses.append(str(ipaddress.ip_interface(word)))
        found.append(one)
    return found


def _state(capture, item):
    """As the kernel's flags have it: switched on, and with a link when its operstate is up or unknown."""
    name = item["ifname"]
    flags = addressing.attribute(capture, name, "flags")
    if not (int(flags, 0) & 1 if flags else "UP" in item["flags"]):
        return DOWN
    operstate = addressing.attribute(capture, name, "operstate") or "unknown"
    return UP if operstate in ("up", "unknown") else NO_CARRIER


def of_capture(capture):
    """The interfaces of a machine, by their index, as `ip -j addr` printed them there."""
    listed = sorted(addressing.load_json(capture, "ip-addr.json"), key=lambda item: item["ifindex"])
    return [Interface(item["ifname"], _state(capture, item),
                      [f"{one['local']}/{one['prefixlen']}" for one in item["addr_info"]]) for item in listed]


def _address_lines(one):
    """IPv6 backwards: of two addresses of one scope the kernel lists the newer one first."""
    ipv4 = [text for text in one.addresses if ":" not in text]
    ipv6 = [text for text in one.addresses if ":" in text]
    return [f"address add {text} dev {one.name}" for text in ipv4] + \
        [f"address add {text} dev {one.name} nodad" for text in reversed(ipv6)]


def lines(interfaces):
    """What the ip command must do for them: a veth pair each, whose other end is the cable."""
    out = []
    for number, one in enumerate(interfaces):
        if one.name == "lo":
            out += ["link set lo up", "address flush dev lo"]
        else:
            cable = f"cable{number}"
            out.append(f"link add {one.name} type veth peer name {cable}")
            out += [f"link set {cable} up"] if one.state == UP else []
            out += [f"link set {one.name} up"] if one.state != DOWN else []
        out += _address_lines(one)
    return out


def enter(interfaces, mounts=False):
    """Moves this process into a namespace with these interfaces; with `mounts`, also into one for mounts."""
    flags = linux.CLONE_NEWNET | (linux.CLONE_NEWNS if mounts else 0)
    uid, gid = os.geteuid(), os.getegid()
    linux.unshare(flags | (linux.CLONE_NEWUSER if uid else 0))
    if uid:
        linux.become_root_of_user_namespace(uid, gid)
    for switch, value in SWITCHES.items():
        Path(f"/proc/sys/net/ipv6/conf/{switch}").write_text(value)
    subprocess.run(["ip", "-batch", "-"], input="\n".join(lines(interfaces)) + "\n", text=True, check=True,
                   stdout=subprocess.DEVNULL, stderr=sys.stderr)


def _start(command, environment, seconds):
    """Exit status and output of one command; 124 when it took longer."""
    try:
        done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=seconds, check=False)
    except subprocess.TimeoutExpired as late:
        return 124, (late.stdout or b"").decode(errors="replace")
    return done.returncode, done.stdout.decode(errors="replace")


def _child(interfaces, starts, mount, seconds):
    try:
        enter(interfaces, mount is not None)
        if mount:
            mount()
        return [_start(command, environment, seconds) for command, environment in starts]
    except (OSError, subprocess.SubprocessError) as error:
        return [(126, f"netns: {error}")] * len(starts)


def run(interfaces, starts, mount=None, seconds=120):
    """Runs each (command, environment) in a fresh namespace of all; (exit status, output) of each.

    `mount` is called there before, in a namespace for mounts."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with os.fdopen(write, "w", encoding="utf-8") as file:
                json.dump(_child(interfaces, starts, mount, seconds), file)
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, encoding="utf-8") as file:
        text = file.read()
    os.waitpid(child, 0)
    return [tuple(one) for one in json.loads(text)] if text else [(126, "netns: no answer")] * len(starts)
