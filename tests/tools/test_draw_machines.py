# SPDX-License-Identifier: Apache-2.0
"""The drawn machines: the committed ones are what the program writes, and each holds one right answer."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CLONE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(CLONE / "tools"))

from embedded_cluster import addressing, capture, linux  # noqa: E402

DRAW = CLONE / "tests" / "tools" / "draw_machines.py"


def draw(folder, *options):
    return subprocess.run([sys.executable, str(DRAW), "--out", folder, *options], capture_output=True, text=True)


def right_answers(machine):
    """Found anew from the text alone: every RoCE v2 GID with an IPv4 address on an active port."""
    found = []
    for path, entry in machine.entries.items():
        if path.endswith("/state") and "/ports/" in path and entry.value == "4: ACTIVE\n":
            port = path.removesuffix("/state")
            for index in range(64):
                gid, kind = machine.text(f"{port}/gids/{index}"), machine.text(f"{port}/gid_attrs/types/{index}")
                if kind == "RoCE v2\n" and gid.startswith("0000:0000:0000:0000:0000:ffff"):
                    netdev = machine.text(f"{port}/gid_attrs/ndevs/{index}").strip()
                    device = port.split("/")[-3]
                    found.append({"NCCL_IB_HCA": f"={device}:{port.split('/')[-1]}", "NCCL_IB_GID_INDEX": str(index),
                                  "NCCL_SOCKET_IFNAME": f"={netdev}"})
    return found


class Draw(unittest.TestCase):
    def test_reference_is_committed(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(draw(folder, "--reference").returncode, 0)
            for number in (1, 2, 3):
                name = f"server{number}.capture"
                self.assertEqual((CLONE / "tests/hosts" / name).read_text(), (Path(folder) / name).read_text())

    def test_one_right_answer(self):
        for seed in range(25):
            with self.subTest(seed), tempfile.TemporaryDirectory() as folder:
                self.assertEqual(draw(folder, "--seed", str(seed), "--nodes", "3").returncode, 0)
                expected = json.loads((Path(folder) / "expected.json").read_text())
                self.assertEqual(list(expected), ["server1", "server2", "server3"])
                for name, answer in expected.items():
                    machine = capture.read(Path(folder) / f"{name}.capture")
                    self.assertEqual(right_answers(machine), [answer])
                    self.assertEqual(len(addressing.netdevs(machine)), 3)
                    addressing.node_addr(machine)

    def test_same_seed_same_machines(self):
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
            draw(one, "--seed", "7")
            draw(two, "--seed", "7")
            for path in Path(one).iterdir():
                self.assertEqual(path.read_text(), (Path(two) / path.name).read_text())

    def test_links_lead_somewhere(self):
        with tempfile.TemporaryDirectory() as folder:
            draw(folder, "--seed", "3", "--nodes", "2")
            root = Path(folder) / "root"
            capture.lay_out(capture.read(Path(folder) / "server2.capture").entries, root)
            self.assertEqual([str(path) for path in root.rglob("*") if path.is_symlink() and not path.exists()], [])

    def test_bad_options(self):
        for options in ([], ["--seed", "x"], ["--reference", "--seed", "1"], ["--seed", "1", "--nodes", "0"],
                        ["--seed", "1", "--nodes", "61"]):
            with self.subTest(options):
                self.assertEqual(draw("/proc/nonexistent", *options).returncode, 2)


class Seccomp(unittest.TestCase):
    """Runs the filter by hand: the kernel would need a process for each answer."""

    def answer(self, program, architecture, call):
        at = 0
        accumulator = 0
        while True:
            code, yes, no, value = linux.struct.unpack_from("=HBBI", program, at * 8)
            at += 1
            if code == 0x20:
                accumulator = {0: call, 4: architecture}[value]
            elif code == 0x15:
                at += yes if accumulator == value else no
            else:
                return value

    def test_answers(self):
        for machine, (architecture, calls) in linux._CALLS.items():
            program = linux.seccomp_program(machine)
            for call in range(450):
                expected = 0x00050000 if call in calls else 0x7FFF0000
                self.assertEqual(self.answer(program, architecture, call), expected)
                self.assertEqual(self.answer(program, 0x40000003, call), 0x7FFF0000)


if __name__ == "__main__":
    unittest.main()
