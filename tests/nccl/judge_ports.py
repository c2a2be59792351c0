#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets the real NCCL judge which HCA ports it takes on every captured machine. Needs a GPU and root.

  judge_ports.py PROBE ANSWERS VERBS OUT --nccl LIBNCCL --release 2.28.9 [--machine NAME]...

PROBE is the program rank_probe, ANSWERS what model_answers printed for this release of NCCL, VERBS the folder with the
stand-in libibverbs under both its names. For each machine NCCL starts twice, without any variable and with all of its
own that we set, in a namespace with the machine's interfaces and with the machine laid over /sys; then once for each
row of port_vectors.txt. Writes OUT/ports-RELEASE.txt, a line for each start, and OUT/ports-RELEASE.log, what NCCL
said. Ends with 1 when NCCL took other ports than the model says or than NCCL_IB_HCA names.
"""

import argparse
import functools
import json
import multiprocessing
import os
import re
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import netns
import table
from embedded_cluster import capture, linux  # netns.py has set the path

HERE = Path(__file__).resolve().parent
HOSTS = HERE.parent / "hosts"
VECTORS = "port_vectors.txt"
# One entry a port, and no question to a driver that is not there.
FIXED = {"NCCL_IB_MERGE_NICS": "0", "NCCL_DMABUF_ENABLE": "0"}
PORT = re.compile(r"\[\d+\]([\w.+-]+:\d+)/")
KEPT = re.compile(r"NET/IB : (Using|No)|Bootstrap ?: Using|NCCL version|NCCL WARN|Using network|set by environment|"
                  r"rank_probe:|netns:")
PARALLEL = 6


@dataclass
class Start:
    """One start of NCCL on a machine: its variables, and the ports that it must take."""

    machine: str
    mode: str
    variables: dict
    model: list
    named: list | None  # the ports in our NCCL_IB_HCA; None when we set none


def starts(answers):
    """Both starts of each machine."""
    found = []
    for machine in answers:
        value = machine["set"].get("NCCL_IB_HCA")
        named = value.removeprefix("=").split(",") if value else None
        found.append(Start(machine["name"], "without", {}, machine["without"]["ports"], None))
        found.append(Start(machine["name"], "with", machine["set"], machine["with"]["ports"], named))
    return found


def of_table(text, version):
    """A start for each row of port_vectors.txt, on the machine that it describes."""
    found = []
    for number, variables, names in table.rows(text, 3, version):
        ports = [] if names == "nothing" else [f"{name}:1" for name in names.split()]
        found.append(Start(VECTORS, f"line {number}", table.variables(variables), ports, None))
    return found


def machine_of_the_table():
    """The capture of the machine that port_vectors.txt describes."""
    lines = [capture.FIRST_LINE, "in dev/infiniband", *(f"uverbs{k} * rw" for k in range(4))]
    for number, name in enumerate(("mlx5_0", "mlx5_2", "mlx5_20", "mlx5_bond_0")):
        link = "InfiniBand" if name == "mlx5_20" else "Ethernet"
        folder = f"devices/pci0000:0{number}/0000:0{number}:00.0/infiniband"
        lines += [f"in sys/{folder}/{name}/ports/1", "state = 4: ACTIVE", f"link_layer = {link}", "rate = 100 Gb/sec",
                  f"in sys/{folder}/{name}", "device -> ../..",
                  "in sys/class/infiniband", f"{name} -> ../../{folder}/{name}",
                  f"in sys/class/infiniband_verbs/uverbs{number}", f"ibdev = {name}"]
    addresses = [{"ifindex": 1, "ifname": "lo", "flags": ["UP"], "addr_info": [{"local": "127.0.0.1", "prefixlen": 8}]},
                 {"ifindex": 2, "ifname": "eth0", "flags": ["UP"], "addr_info": [{"local": "10.0.0.5", "prefixlen": 24}]}]
    lines += ["in .", "ip-addr.json = " + json.dumps(addresses)]
    return capture.parse(("\n".join(lines) + "\n").encode(), VECTORS)


def ports_in(log):
    """The ports in NCCL's line "NET/IB : Using"; [] when it went on without that; None when it did not get so far."""
    if re.search(r"Using network (?!IB\b)", log):  # 2.28.3 starts the IB transport first, and may not use it
        return []
    for line in log.split("\n"):
        if "NET/IB : Using [" in line:
            return PORT.findall(line)
    return [] if "NET/Socket : Using" in log or re.search(r"^rank_probe: NCCL .*, status", log, re.M) else None


def interface_in(log):
    """The interface in NCCL's line "Bootstrap: Using"."""
    found = re.search(r"Bootstrap ?: Using ([^:]+):", log)
    return found[1] if found else None


def verdict(start, log):
    """What is wrong with what NCCL did; nothing when all is right."""
    got = ports_in(log)
    if got is None:
        return "no answer"
    wrong = []
    if sorted(got) != sorted(start.model):
        wrong.append("model says " + (",".join(start.model) or "none"))
    if start.named is not None and sorted(got) != sorted(start.named):
        wrong.append("NCCL_IB_HCA names " + ",".join(start.named))
    wanted = start.variables.get("NCCL_SOCKET_IFNAME")
    if start.machine != VECTORS and wanted and "=" + str(interface_in(log)) != wanted:
        wrong.append(f"NCCL_SOCKET_IFNAME is {wanted}")
    return "; ".join(wrong)


def lay_out(machine, root):
    """The machine's files, and an empty file for each uverbs node that the job's user can open."""
    capture.lay_out(machine.entries, root, lambda path: not path.startswith("sys/"))
    nodes = root / "dev/infiniband"
    nodes.mkdir(parents=True)
    listed = {path.rpartition("/")[2]: entry.value == "rw" for path, entry in machine.entries.items()
              if path.startswith("dev/infiniband/uverbs")}
    if not any(path.startswith("dev/") for path in machine.entries):  # not looked at there
        listed = {path.name: True for path in (root / "sys/class/infiniband_verbs").glob("uverbs*")}
    for name, usable in listed.items():
        if usable:
            (nodes / name).touch()


def cover_sys(root):
    """Lays the machine over /sys; what it has not is this machine's own, its GPU above all."""
    linux.mount("", "/", flags=linux.MS_REC | linux.MS_PRIVATE)
    own = f"{root}/own"
    os.mkdir(own)
    linux.mount("sysfs", own, "sysfs")
    linux.overlay([f"{root}/sys", own], "/sys")


def run(options, start):
    """Starts NCCL; what it said."""
    from_table = start.machine == VECTORS
    machine = machine_of_the_table() if from_table else capture.read(HOSTS / f"{start.machine}.capture")
    root = Path(tempfile.mkdtemp(prefix="nccl-tune-ports."))
    (root / "sys").mkdir()
    lay_out(machine, root)
    environment = {"PATH": os.environ["PATH"], "HOME": "/proc/nonexistent", "LD_LIBRARY_PATH": options.verbs,
                   "NCCL_TUNE_FAKE_ROOT": str(root)} | FIXED | start.variables
    if "LD_LIBRARY_PATH" in os.environ:
        environment["LD_LIBRARY_PATH"] += ":" + os.environ["LD_LIBRARY_PATH"]
    starts_of_one = [([options.probe, options.nccl], environment)]
    ((_, log),) = netns.run(netns.of_capture(machine), starts_of_one, functools.partial(cover_sys, root))
    shutil.rmtree(root, ignore_errors=True)  # the mounts were in the namespace that has ended
    return log


def write(options, done):
    """Both files, and the sum on standard output. True when all is right."""
    right = 0
    path = f"{options.out}/ports-{options.release}"
    with open(path + ".txt", "w", encoding="utf-8") as summary, open(path + ".log", "w", encoding="utf-8") as logs:
        for start, log in done:
            wrong = verdict(start, log)
            right += not wrong
            ports = ",".join(ports_in(log) or []) or "none"
            print(f"{'DIFF' if wrong else 'ok'} | {start.machine} | {start.mode} | {interface_in(log)} | {ports}" +
                  (f" | {wrong}" if wrong else ""), file=summary)
            variables = " ".join(f"{name}={value}" for name, value in sorted(start.variables.items()))
            kept = [line for line in log.split("\n") if KEPT.search(line)] if not wrong else log.split("\n")
            print(f"== {start.machine} {start.mode} {variables}", *kept, "", sep="\n", file=logs)
        print(f"{right} of {len(done)} as expected", file=summary)
    print(f"{right} of {len(done)} as expected")
    return right == len(done) > 0


def main(words):
    """The command line."""
    parser = argparse.ArgumentParser(prog="judge_ports.py", usage=__doc__, allow_abbrev=False)
    for name in ("probe", "answers", "verbs", "out"):
        parser.add_argument(name)
    parser.add_argument("--nccl", required=True)
    parser.add_argument("--release", required=True)
    parser.add_argument("--machine", action="append", default=[])
    options = parser.parse_args(words)
    answers = json.loads(Path(options.answers).read_text(encoding="utf-8"))
    known = starts(answers) + of_table((HERE / VECTORS).read_text(encoding="utf-8"), table.release(options.release))
    chosen = [one for one in known if not options.machine or one.machine in options.machine]
    with multiprocessing.Pool(PARALLEL) as pool:
        logs = pool.map(functools.partial(run, options), chosen, chunksize=1)
    return 0 if write(options, list(zip(chosen, logs))) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
