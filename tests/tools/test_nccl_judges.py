# SPDX-License-Identifier: Apache-2.0
"""The judges of tests/nccl without NCCL: their tables, the interfaces they lay out, what they read in a log."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

CLONE = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(CLONE / "tests/nccl"), str(CLONE / "tools")]

import judge_interfaces  # noqa: E402
import judge_ports  # noqa: E402
import netns  # noqa: E402
import table  # noqa: E402
from embedded_cluster import capture  # noqa: E402

V228 = (2, 28, 9)


class Table(unittest.TestCase):
    def test_releases(self):
        cases = [("all", True), ("from 2.28.0", True), ("from 2.28.9", True), ("from 2.29.0", False),
                 ("until 2.27.99", False), ("until 2.28.9", True), ("only 2.28.0-2.28.9", True),
                 ("only 2.29.2-2.30.2", False), ("not 2.29.2-2.30.2", True), ("not 2.28.9-2.28.9", False)]
        for text, holds in cases:
            self.assertEqual(table.holds_for(text, V228), holds, text)

    def test_bad_releases(self):
        for text in ("", "2.28.9", "from", "from ", "until", "only 2.28.9", "not", "from 2.28-2.29", "since 2.28.0",
                     "from x"):
            with self.subTest(text), self.assertRaises(ValueError):
                table.holds_for(text, V228)

    def test_variables(self):
        self.assertEqual(table.variables(""), {})
        self.assertEqual(table.variables('A==b, c & B="x " & C='), {"A": "=b, c", "B": "x ", "C": ""})
        self.assertEqual(table.variables('A="'), {"A": '"'})
        for text in ("A", "=b", "A=b & C"):
            with self.subTest(text), self.assertRaises(ValueError):
                table.variables(text)

    def test_rows(self):
        text = "# a | b\n\nall | x |  | y\nfrom 2.29.0 | x | z | y\n"
        self.assertEqual(table.rows(text, 4, V228), [(3, "x", "", "y")])
        with self.assertRaises(ValueError) as raised:
            table.rows("all | x", 4, V228)
        self.assertEqual(str(raised.exception), "line 1: got 2 columns, expected 4")

    def test_the_tables_here(self):
        for name, columns, least in (("interface_vectors.txt", 4, 20), ("port_vectors.txt", 3, 20)):
            text = (CLONE / "tests/nccl" / name).read_text(encoding="utf-8")
            self.assertGreaterEqual(len(table.rows(text, columns, V228)), least, name)


class Interfaces(unittest.TestCase):
    def test_parse(self):
        self.assertEqual(netns.parse("lo 127.0.0.1/8 ::1/128; eth0 NOCARRIER 10.0.0.5/24; eth1 DOWN"),
                         [netns.Interface("lo", netns.UP, ["127.0.0.1/8", "::1/128"]),
                          netns.Interface("eth0", netns.NO_CARRIER, ["10.0.0.5/24"]),
                          netns.Interface("eth1", netns.DOWN, [])])
        for text in ("", "eth0;", "eth0 up", "eth0 10.0.0/24"):
            with self.subTest(text), self.assertRaises(ValueError):
                netns.parse(text)

    def test_lines(self):
        made = netns.lines(netns.parse("lo ::1/128; a fd00::1/64 10.0.0.5/24 fd00::2/64; b NOCARRIER; c DOWN"))
        self.assertEqual(made, [
            "link set lo up", "address flush dev lo", "address add ::1/128 dev lo nodad",
            "link add a type veth peer name cable1", "link set cable1 up", "link set a up",
            "address add 10.0.0.5/24 dev a", "address add fd00::2/64 dev a nodad", "address add fd00::1/64 dev a nodad",
            "link add b type veth peer name cable2", "link set b up", "link add c type veth peer name cable3"])

    def test_states_of_a_capture(self):
        devs = [{"ifindex": k, "ifname": name, "flags": flags, "addr_info": []}
                for k, name, flags in ((4, "d", ["UP"]), (1, "a", ["UP"]), (2, "b", ["UP"]), (3, "c", []))]
        text = "\n".join([capture.FIRST_LINE, "in sys/class/net", "a/operstate = up", "b/operstate = lowerlayerdown",
                          "c/operstate = up", "d/flags = 0x1002", "in .", "ip-addr.json = " + json.dumps(devs), ""])
        got = netns.of_capture(capture.parse(text.encode(), "x"))
        self.assertEqual([(one.name, one.state) for one in got],
                         [("a", netns.UP), ("b", netns.NO_CARRIER), ("c", netns.DOWN), ("d", netns.DOWN)])

    def test_an_answer_is_right(self):
        for got, expected, right in (("eth0 10.0.0.5", "eth0", True), ("eth0 10.0.0.5", "eth0 10.0.0.5", True),
                                     ("eth0 10.0.0.5", "eth0 10.0.0.6", False), ("eth01 10.0.0.5", "eth0", False),
                                     ("nothing", "nothing", True), ("eth0 10.0.0.5", "nothing", False),
                                     ("nothing", "eth0", False), ("no answer, status 2: x", "nothing", False)):
            self.assertEqual(judge_interfaces.is_right(got, expected), right, (got, expected))


class Ports(unittest.TestCase):
    USING = "h:1:1 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_2:2/IB [RO]; OOB eth0:10.0.0.5<0>\n"

    def test_ports_in_a_log(self):
        ended = "rank_probe: NCCL 2.28.9, status 0\n"
        for log, ports in ((self.USING + "NCCL INFO Using network Socket\n", []), (self.USING, ["mlx5_0:1", "mlx5_2:2"]),
                           (self.USING + "NCCL INFO Using network IB\n", ["mlx5_0:1", "mlx5_2:2"]), (self.USING + ended, ["mlx5_0:1", "mlx5_2:2"]),
                           ("NET/IB : No device found.\nNET/Socket : Using [0]eth0:10.0.0.5<0>\n", []), (ended, []),
                           ("", None), ("rank_probe: NCCL crashed after this\n", None), ("netns: failed\n", None)):
            self.assertEqual(judge_ports.ports_in(log), ports, log)

    def test_verdict(self):
        start = judge_ports.Start("m", "with", {"NCCL_SOCKET_IFNAME": "=eth0"}, ["mlx5_2:2", "mlx5_0:1"],
                                  ["mlx5_0:1", "mlx5_2:2"])
        taken = "NCCL INFO Bootstrap: Using eth0:10.0.0.5<0>\n"
        self.assertEqual(judge_ports.verdict(start, taken + self.USING), "")
        self.assertEqual(judge_ports.verdict(start, taken), "no answer")
        self.assertEqual(judge_ports.verdict(start, taken.replace("eth0", "eth1") + self.USING),
                         "NCCL_SOCKET_IFNAME is =eth0")
        start.model, start.named = ["mlx5_0:1"], []
        self.assertEqual(judge_ports.verdict(start, taken + self.USING), "model says mlx5_0:1; NCCL_IB_HCA names ")

    def test_only_what_can_be_opened(self):
        text = "\n".join([capture.FIRST_LINE, "in sys/class/infiniband_verbs", "uverbs0/ibdev = a", "uverbs1/ibdev = b", ""])
        devices = "in dev/infiniband\nuverbs0 * -\nuverbs1 * rw\n"
        for more, names in (("", ["uverbs0", "uverbs1"]), (devices, ["uverbs1"])):
            with tempfile.TemporaryDirectory() as folder:
                judge_ports.lay_out(capture.parse((text + more).encode(), "x"), Path(folder))
                self.assertEqual(sorted(path.name for path in (Path(folder) / "dev/infiniband").iterdir()), names)

    def test_the_machine_of_the_table(self):
        machine = judge_ports.machine_of_the_table()
        self.assertEqual([one.name for one in netns.of_capture(machine)], ["lo", "eth0"])
        self.assertEqual(machine.text("sys/class/infiniband_verbs/uverbs2/ibdev"), "mlx5_20\n")


if __name__ == "__main__":
    unittest.main()
