# SPDX-License-Identifier: Apache-2.0
"""Writes a machine of draw_machines.py as a capture: the files and links that a kernel shows for such hardware."""

import json

FOREVER = 4294967295
RATE = "25 Gb/sec (1X EDR)"
ZERO_GID = ":".join(["0000"] * 8)
CARD = {"class": "0x020000", "vendor": "0x15b3", "device": "0x1017", "speed": "8.0 GT/s PCIe", "width": "8"}
GPU = {"class": "0x030200", "vendor": "0x10de", "device": "0x20b5", "speed": "16.0 GT/s PCIe", "width": "16"}
MANAGEMENT = {"class": "0x020000", "vendor": "0x8086", "device": "0x1533", "speed": "2.5 GT/s PCIe", "width": "1"}
BRIDGE = {"class": "0x060400", "vendor": "0x8086", "device": "0x347a", "speed": "16.0 GT/s PCIe", "width": "16"}


def cpu_mask(cpus):
    """"0-7" as the mask that sysfs shows beside the list."""
    first, last = map(int, cpus.split("-"))
    return f"{((1 << (last - first + 1)) - 1) << first:08x}"


def pci_attributes(kind, cpus, numa, driver, depth):
    """What every PCI function shows; `depth` is the number of folders between it and sys."""
    up = "../" * depth
    return [f"class = {kind['class']}", f"vendor = {kind['vendor']}", f"device = {kind['device']}",
            f"subsystem_vendor = {kind['vendor']}", "subsystem_device = 0x0001", "revision = 0x00", "enable = 1",
            f"numa_node = {numa}", f"local_cpulist = {cpus}", f"local_cpus = {cpu_mask(cpus)}",
            f"current_link_speed = {kind['speed']}", f"current_link_width = {kind['width']}",
            f"max_link_speed = {kind['speed']}", f"max_link_width = {kind['width']}",
            f"subsystem -> {up}bus/pci", f"driver -> {up}bus/pci/drivers/{driver}"]


def bridge(machine, function):
    """The root port above a function."""
    return [f"in sys/devices/{function.root}/{function.bridge}",
            *pci_attributes(BRIDGE, machine.cpus[function.numa], function.numa, "pcieport", 3)]


def endpoint(machine, function, kind, driver):
    """The function itself, of a GPU or a card."""
    lines = [f"in {function.folder}", *pci_attributes(kind, machine.cpus[function.numa], function.numa, driver, 4)]
    if kind is CARD:
        lines += ["sriov_totalvfs = 0", "sriov_numvfs = 0"]
    return lines


def netdev(machine, function, name, number, up, speed, dev_port):
    """The interface below its function; the kernel prints an unknown speed as -1."""
    return [f"in {function.folder}/net/{name}", "device -> ../../../" + function.address,
            f"address = {machine.mac(number)}", f"ifindex = {number + 1}", "type = 1", "mtu = 1500",
            f"dev_port = {dev_port}", "dev_id = 0x0", "flags = 0x1003", f"carrier = {int(up)}",
            f"operstate = {'up' if up else 'down'}", f"speed = {speed if up else -1}",
            f"duplex = {'full' if up else 'unknown'}"]


def guid(machine, number):
    return f"0200:5eff:fe00:{machine.node:02x}{number:02x}"


def device(machine, name, function, number):
    """An RDMA device without its ports."""
    return [f"in {function.folder}/infiniband/{name}", "device -> ../../../" + function.address, "node_type = 1: CA",
            f"node_guid = {guid(machine, number)}", f"sys_image_guid = {guid(machine, 2)}", "fw_ver = 16.35.2000",
            "hca_type = MT4119", "hw_rev = 0", "board_id = MT_0000000080", "node_desc = scrubbed"]


def port(one):
    """A port of an RDMA device, with its GID table. Type and interface of an empty slot cannot be read."""
    state = ("4: ACTIVE", "5: LinkUp") if one.up else ("1: DOWN", "2: Polling")
    lines = [f"in {one.function.folder}/infiniband/{one.device}/ports/{one.number}", f"state = {state[0]}",
             f"phys_state = {state[1]}", f"rate = {RATE}", "link_layer = Ethernet", "lid = 0x0", "sm_lid = 0x0",
             "lid_mask_count = 0", "sm_sl = 0", "cap_mask = 0x04010000", "pkeys/0 = 0xffff",
             "counters/port_xmit_data = 0", "counters/port_rcv_data = 0"]
    slots = range(max(16, max(one.gids) + 4))
    lines += [f"gids/{k} = {one.gids[k][0] if k in one.gids else ZERO_GID}" for k in slots]
    lines += [f"gid_attrs/types/{k} " + (f"= {one.gids[k][1]}" if k in one.gids else "! EINVAL") for k in slots]
    lines += [f"gid_attrs/ndevs/{k} " + (f"= {one.netdev}" if k in one.gids else "! EINVAL") for k in slots]
    return lines


def verbs(functions):
    """The character devices of the RDMA devices, numbered in their order."""
    lines = []
    for number, (name, function) in enumerate(functions):
        lines += [f"in {function.folder}/infiniband_verbs/uverbs{number}", f"ibdev = {name}",
                  f"dev = 231:{192 + number}", "abi_version = 1", "device -> ../../../" + function.address]
    return lines


def links(folder, functions_by_name, below=""):
    """A class folder: links to where the devices are."""
    up = "../" * (folder.count("/"))
    return [f"in {folder}"] + [f"{name} -> {up}{function.folder.removeprefix('sys/')}{below}{name if below else ''}"
                               for name, function in functions_by_name]


def pci_links(functions):
    """bus/pci/devices: every function and the bridges above them, in the order of their addresses."""
    targets = {one.address: one.folder for one in functions}
    targets |= {one.bridge: one.folder.rpartition("/")[0] for one in functions}
    return ["in sys/bus/pci/devices"] + [f"{address} -> ../../../{folder.removeprefix('sys/')}"
                                         for address, folder in sorted(targets.items())]


def numa_nodes(machine):
    """devices/system/node, with 64 GiB each."""
    count = len(machine.cpus)
    every = "0" if count == 1 else f"0-{count - 1}"
    lines = ["in sys/devices/system/node"]
    lines += [f"{name} = {every}" for name in ("online", "possible", "has_cpu", "has_memory", "has_normal_memory")]
    for number, cpus in enumerate(machine.cpus):
        distance = " ".join("10" if other == number else "21" for other in range(count))
        lines += [f"node{number}/cpulist = {cpus}", f"node{number}/cpumap = {cpu_mask(cpus)}",
                  f"node{number}/distance = {distance}", f"node{number}/meminfo <<",
                  f"| Node {number} MemTotal:       67108864 kB", f"| Node {number} MemFree:        60000000 kB"]
    return lines


def address(family, local, prefix, scope, **more):
    """An address as `ip -j addr` prints it; `more` is broadcast, which stands before the scope, and label."""
    before = {key: more[key] for key in ("broadcast",) if key in more}
    after = {key: more[key] for key in ("label",) if key in more}
    return {"family": family, "local": str(local), "prefixlen": prefix, **before, "scope": scope, **after,
            "valid_life_time": FOREVER, "preferred_life_time": FOREVER}


def interface(machine, number, name, up, ip=None):
    """An interface as `ip -j addr` prints it."""
    flags = ["BROADCAST", "MULTICAST", "UP"] + (["LOWER_UP"] if up else [])
    addresses = []
    if ip:
        addresses.append(address("inet", ip.ip, ip.network.prefixlen, "global",
                                 broadcast=str(ip.network.broadcast_address), label=name))
    if up:
        addresses.append(address("inet6", machine.link_local(number), 64, "link"))
    return {"ifindex": number + 1, "ifname": name, "flags": flags if up else ["NO-CARRIER"] + flags, "mtu": 1500,
            "qdisc": "mq", "operstate": "UP" if up else "DOWN", "group": "default", "txqlen": 1000,
            "link_type": "ether", "address": machine.mac(number), "broadcast": "ff:ff:ff:ff:ff:ff",
            "addr_info": addresses}


def loopback():
    return {"ifindex": 1, "ifname": "lo", "flags": ["LOOPBACK", "UP", "LOWER_UP"], "mtu": 65536, "qdisc": "noqueue",
            "operstate": "UNKNOWN", "group": "default", "txqlen": 1000, "link_type": "loopback",
            "address": "00:00:00:00:00:00", "broadcast": "00:00:00:00:00:00",
            "addr_info": [address("inet", "127.0.0.1", 8, "host", label="lo"), address("inet6", "::1", 128, "host")]}


def addresses(machine):
    listed = [loopback(), interface(machine, 1, machine.management_netdev, True, machine.management_addr)]
    for number, one in enumerate(machine.ports, start=2):
        listed.append(interface(machine, number, one.netdev, one.up, machine.fabric_addr if one.up else None))
    return listed


def routes(machine):
    """The default route over the management network, and the two connected ones."""
    gateway = str(machine.management_addr.network[1])
    connected = [{"dst": str(ip.network), "dev": dev, "protocol": "kernel", "scope": "link", "prefsrc": str(ip.ip),
                  "flags": []} for ip, dev in ((machine.management_addr, machine.management_netdev),
                                               (machine.fabric_addr, machine.active().netdev))]
    return [{"dst": "default", "gateway": gateway, "dev": machine.management_netdev, "flags": []}, *connected]


def json_block(name, values):
    """One value a line, so that a diff shows which changed."""
    rows = [json.dumps(value, separators=(",", ":")) for value in values]
    return [f"{name} <<"] + ["| " + ("[" if k == 0 else "") + row + ("]" if k == len(rows) - 1 else ",")
                             for k, row in enumerate(rows)]


def sections(machine):
    """The capture, a list of lines for each thing it shows."""
    card_functions = list({one.function.address: one.function for one in machine.ports}.values())
    functions = [machine.management, machine.gpu, *card_functions]
    devices = list({one.device: one.function for one in machine.ports}.items())
    netdevs = [(machine.management_netdev, machine.management)] + [(one.netdev, one.function) for one in machine.ports]
    yield from (bridge(machine, one) for one in {one.bridge: one for one in functions}.values())
    yield endpoint(machine, machine.management, MANAGEMENT, "igb")
    yield netdev(machine, machine.management, machine.management_netdev, 1, True, 1000, 0)
    yield endpoint(machine, machine.gpu, GPU, "nvidia")
    yield from (endpoint(machine, one, CARD, "mlx5_core") for one in card_functions)
    yield from (device(machine, *pair, number) for number, pair in enumerate(devices, start=2))
    for number, one in enumerate(machine.ports, start=2):
        yield port(one)
        yield netdev(machine, one.function, one.netdev, number, one.up, 25000, one.number - 1)
    yield verbs(devices)
    yield links("sys/class/infiniband", devices, "/infiniband/")
    uverbs = [(f"uverbs{number}", function) for number, (_, function) in enumerate(devices)]
    yield links("sys/class/infiniband_verbs", uverbs, "/infiniband_verbs/")
    yield links("sys/class/net", netdevs, "/net/")
    yield pci_links(functions)
    yield ["in sys/bus/pci/drivers"] + [f"{name} /" for name in ("igb", "mlx5_core", "nvidia", "pcieport")]
    yield numa_nodes(machine)
    yield ["in proc", "sys/kernel/osrelease = 6.1.0-28-amd64"]
    yield ["in dev"] + [f"infiniband/{name} * rw" for name, _ in uverbs]
    yield ["in .", *json_block("ip-addr.json", addresses(machine)), *json_block("ip-route.json", routes(machine))]


def capture(machine, source):
    """The whole text."""
    lines = ["nccl-tune-capture 1", f": name {machine.name}", f": node-addr {machine.management_addr.ip}",
             f": source {source}"]
    for section in sections(machine):
        lines += ["", *section]
    return "\n".join(lines) + "\n"
