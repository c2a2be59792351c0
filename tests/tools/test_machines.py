# SPDX-License-Identifier: Apache-2.0
"""Addresses of captures, the choice of a machine for each node, and the network that follows from both."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

CLONE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(CLONE / "tools"))

from embedded_cluster import addressing, capture, fixture, machines, network, slurm_conf  # noqa: E402
from embedded_cluster.errors import BAD_INPUT, ClusterError  # noqa: E402

LOOPBACK = {"ifname": "lo", "flags": ["LOOPBACK", "UP"], "operstate": "UNKNOWN", "mtu": 65536, "addr_info": []}


def dev(name, *addresses, **more):
    """An interface as `ip -j addr` prints it."""
    infos = [{"family": "inet", "local": one.split("/")[0], "prefixlen": int(one.split("/")[1]), "scope": "global"}
             for one in addresses]
    return {"ifname": name, "flags": ["UP"], "operstate": "UP", "mtu": 1500, "address": "0c:42:a1:00:00:07",
            "addr_info": infos} | more


def machine(devs, extra="", routes="[]"):
    """A capture of nothing but interfaces."""
    addresses = devs if isinstance(devs, str) else json.dumps([LOOPBACK, *devs])
    text = f"nccl-tune-capture 1\n{extra}in .\nip-addr.json = {addresses}\nip-route.json = {routes}\n"
    return capture.parse(text.encode(), "x")


class Readdress(unittest.TestCase):
    def moved(self, node, *devs):
        got = addressing.for_node(machine(devs), node, False)
        return [str(ip) for one in addressing.netdevs(got) for ip in one.addresses]

    def test_host_part(self):
        self.assertEqual(self.moved(5, dev("a", "10.0.0.200/24"), dev("b", "172.16.9.1/16")),
                         ["10.0.0.15/24", "172.16.9.15/16"])

    def test_two_in_one_network(self):
        self.assertEqual(self.moved(1, dev("a", "10.0.0.2/24"), dev("b", "10.0.0.3/24"), dev("c", "10.0.0.4/24")),
                         ["10.0.0.11/24", "10.0.0.43/24", "10.0.0.75/24"])

    def test_small_networks_stay(self):
        self.assertEqual(self.moved(2, dev("m", "10.9.9.9/24"), dev("a", "10.0.0.2/31"), dev("b", "10.0.1.70/26")),
                         ["10.9.9.12/24", "10.0.0.2/31", "10.0.1.76/26"])

    def test_small_network_of_the_node_is_widened(self):
        self.assertEqual(self.moved(2, dev("a", "10.0.0.200/32"), dev("b", "10.1.0.200/32")),
                         ["10.0.0.12/24", "10.1.0.200/32"])

    def test_ipv6(self):
        self.assertEqual(self.moved(3, dev("m", "10.0.0.2/24"), dev("a", "fd02::1:7/64")),
                         ["10.0.0.13/24", "fd02::1:d/64"])

    def test_too_many(self):
        devs = [dev(f"a{k}", f"10.0.0.{k + 1}/24") for k in range(8)]
        with self.assertRaises(ClusterError) as raised:
            self.moved(30, *devs)
        self.assertIn("got host part 264, expected at most 254 in 10.0.0.0/24; use fewer nodes", str(raised.exception))

    def test_gids_routes_and_label(self):
        gids = "in sys/class/infiniband/m/ports/1/gids\n" + "".join(
            f"{k} = {gid}\n" for k, gid in enumerate(["fe80:0000:0000:0000:0e42:a1ff:fe00:0007",
                                                      "0000:0000:0000:0000:0000:ffff:0a00:0002",
                                                      "0000:0000:0000:0000:0000:0000:0000:0000"]))
        routes = '[{"dst":"default","gateway":"10.0.0.9","prefsrc":"10.0.0.2"}]'
        old = machine([dev("a", "10.0.0.2/24")], ": node-addr 10.0.0.2\n" + gids, routes)
        new = addressing.for_node(old, 4, False)
        path = "sys/class/infiniband/m/ports/1/gids/"
        self.assertEqual([new.text(path + k) for k in "012"],
                         ["fe80:0000:0000:0000:0000:5eff:fe00:0401\n", "0000:0000:0000:0000:0000:ffff:0a00:000e\n",
                          "0000:0000:0000:0000:0000:0000:0000:0000\n"])
        self.assertEqual(json.loads(new.text("ip-route.json")),
                         [{"dst": "default", "gateway": "10.0.0.9", "prefsrc": "10.0.0.14"}])
        self.assertEqual(new.labels["node-addr"], "10.0.0.14")
        self.assertIn("02:00:5e:00:04:01", new.text("ip-addr.json"))
        kept = addressing.for_node(old, 4, True)
        self.assertEqual(kept.text(path + "1"), old.text(path + "1"))
        self.assertEqual(kept.text(path + "0"), new.text(path + "0"))


class ReadAddresses(unittest.TestCase):
    def test_bad(self):
        table = [
            ("[", "x:3: ip-addr.json: Expecting value"),
            ('{"a":1}', 'x:3: ip-addr.json: got "{"a":1}", expected a list of objects'),
            ('[{"ifname":"a"}]', "x:3: ip-addr.json: a: 'addr_info'"),
            (json.dumps([dev("a b")]), 'ifname: got "a b", expected the name of an interface'),
            (json.dumps([dev("a\nb")]), "expected the name of an interface"),
            (json.dumps([dev("")]), 'ifname: got "", expected the name of an interface'),
            (json.dumps([dev("sixteen-letters-")]), "expected the name of an interface"),
            (json.dumps([dev("a", "10.0.0.300/24")]), "'10.0.0.300/24' does not appear to be"),
            (json.dumps([dev("a"), dev("a")]), 'ifname: got "a" twice, expected each interface once'),
            (json.dumps([dev("a", mtu="big")]), "invalid literal"),
        ]
        for text, message in table:
            with self.subTest(text), self.assertRaises(ClusterError) as raised:
                addressing.netdevs(machine(text))
            self.assertIn(message, str(raised.exception))
            self.assertEqual(raised.exception.status, BAD_INPUT)

    def test_the_short_form_that_a_capture_has(self):
        links = "in sys/class/net\na -> ../../devices/x/net/a\nb -> ../../devices/x/net/b\n"
        states = "in sys/devices/x/net\na/operstate = up\na/mtu = 9000\na/address = 02:00:5e:00:00:09\nb/operstate = down\n"
        short = [{"ifname": "lo", "flags": ["UP"], "link_type": "loopback", "addr_info": []},
                 *({"ifname": name, "flags": ["UP"], "link_type": "ether", "addr_info": []} for name in "abc")]
        got = addressing.netdevs(machine(json.dumps(short), links + states))
        self.assertEqual([(one.name, one.up, one.mtu, one.mac) for one in got],
                         [("a", True, 9000, "02:00:5e:00:00:09"), ("b", False, 1500, ""), ("c", True, 1500, "")])

    def test_every_machine_here(self):
        for path in sorted(machines.HOSTS.glob("*.capture")):
            with self.subTest(path.stem):
                self.assertTrue(addressing.netdevs(capture.read(path)))

    def test_none(self):
        empty = capture.parse(b"nccl-tune-capture 1\n", "x")
        with self.assertRaises(ClusterError) as raised:
            addressing.netdevs(empty)
        self.assertIn("x: ip-addr.json: got no such file", str(raised.exception))

    def test_node_addr(self):
        devs = [dev("a", "10.0.0.2/24"), dev("b", "10.1.0.2/24"), dev("c", "10.2.0.2/24", operstate="DOWN")]
        routes = '[{"dst":"default","gateway":"10.1.0.1","dev":"b"}]'
        self.assertEqual(str(addressing.node_addr(machine(devs, "", routes)).ip), "10.1.0.2")
        self.assertEqual(str(addressing.node_addr(machine(devs)).ip), "10.0.0.2")
        self.assertEqual(str(addressing.node_addr(machine(devs, ": node-addr 10.1.0.2\n")).ip), "10.1.0.2")
        for wanted in ("10.9.0.1", "10.2.0.2", "server1"):
            with self.subTest(wanted), self.assertRaises(ClusterError) as raised:
                addressing.node_addr(machine(devs, f": node-addr {wanted}\n"))
            self.assertIn(f'x: node-addr: got "{wanted}", expected an IPv4 address of an interface that is up; '
                          "those are: 10.0.0.2, 10.1.0.2", str(raised.exception))


class Select(unittest.TestCase):
    def test_default(self):
        nodes = machines.select(5, [])
        self.assertEqual([str(node.addr.ip) for node in nodes], [f"10.0.0.{k}" for k in range(11, 16)])
        self.assertEqual([node.machine for node in nodes], ["server1", "server2", "server3"] +
                         ["server1, re-addressed"] * 2)
        self.assertEqual([node.gpus for node in nodes], [1] * 5)

    def test_one_for_all(self):
        nodes = machines.select(2, ["server3"])
        self.assertEqual([(str(node.addr.ip), node.machine) for node in nodes],
                         [("10.0.0.11", "server3, re-addressed"), ("10.0.0.12", "server3, re-addressed")])

    def test_given_keeps(self):
        nodes = machines.select(2, ["server2=server3"])
        self.assertEqual([str(node.addr.ip) for node in nodes], ["10.0.0.11", "10.0.0.13"])
        nodes = machines.select(2, ["server1=server3", "server2=server3"])
        self.assertEqual([str(node.addr.ip) for node in nodes], ["10.0.0.11", "10.0.0.12"])

    def test_bad(self):
        table = [
            (0, [], '--nodes: got "0", expected 1 to 60'),
            (61, [], '--nodes: got "61", expected 1 to 60'),
            (3, ["nosuch"], '--machine: got "nosuch", expected the path of a capture or one of: '),
            (3, ["../hosts/nosuch"], '--machine: got "../hosts/nosuch", expected the path'),
            (3, ["server1", "server2"], "expected one for all nodes, or NODE=NAME for each"),
            (3, ["server4=server1"], 'got "server4=server1", expected a node from server1 to server3'),
            (3, ["=server1"], 'got "=server1", expected a node'),
            (3, ["server1=server1", "server1=server2"], "expected each node once"),
        ]
        for count, options, message in table:
            with self.subTest(options), self.assertRaises(ClusterError) as raised:
                machines.select(count, options)
            self.assertIn(message, str(raised.exception))
            self.assertEqual(raised.exception.status, BAD_INPUT)

    def test_equal_addresses(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "copy.capture"
            copy.write_text((machines.HOSTS / "server2.capture").read_text())
            with self.assertRaises(ClusterError) as raised:
                machines.select(2, [f"server1={copy}"])
        self.assertIn('node-addr of server2: got "10.0.0.12", expected another one than that of server1',
                      str(raised.exception))


class Network(unittest.TestCase):
    def plan(self, *captures):
        nodes = []
        for number, one in enumerate(captures, start=1):
            shown = addressing.for_node(one, number, True)
            nodes.append(machines.Node(f"server{number}", number, "x", shown, addressing.netdevs(shown),
                                       addressing.node_addr(shown)))
        return network.Plan(nodes)

    def test_an_address_twice_on_one_node_is_still_bridged(self):
        plan = self.plan(machine([dev("a", "10.0.0.2/24"), dev("bond0", "10.0.0.2/24")]))
        self.assertEqual(list(plan.bridges.values()), ["bridge0"])
        self.assertIn("link set n1x2 master bridge0", plan.cable_lines({"server1": 5}))

    def test_an_address_of_two_nodes_is_not(self):
        plan = self.plan(*(machine([dev("a", f"10.0.0.{k}/24"), dev("virbr0", "192.168.122.1/24")]) for k in (2, 3)))
        self.assertEqual([str(one) for one in plan.bridges], ["10.0.0.0/24"])

    def test_two_management_networks_reach_each_other(self):
        plan = self.plan(machine([dev("a", "10.0.0.1/24")]), machine([dev("a", "10.1.0.2/24")]))
        self.assertEqual([str(one) for one in plan.head.values()], ["10.0.0.2", "10.1.0.1"])
        self.assertEqual(plan.route_lines(plan.nodes[0]), ["route add 10.1.0.0/24 via 10.0.0.2"])
        self.assertEqual(plan.route_lines(plan.nodes[1]), ["route add 10.0.0.0/24 via 10.1.0.1"])


class Files(unittest.TestCase):
    def setUp(self):
        self.nodes = machines.select(2, [])

    def test_network(self):
        plan = network.Plan(self.nodes)
        self.assertEqual(plan.head_lines(), [
            "link set lo up", "link add bridge0 type bridge", "link set bridge0 up",
            "address add 10.0.0.1/24 dev bridge0", "link add bridge1 type bridge", "link set bridge1 up"])
        self.assertEqual(plan.cable_lines({"server1": 7, "server2": 9})[3:6], [
            "link add n1x2 mtu 1500 type veth peer name ens11f0 mtu 1500 address 02:00:5e:00:01:02 netns 7",
            "link add n1x3 mtu 1500 type veth peer name ens11f1 mtu 1500 address 02:00:5e:00:01:03 netns 7",
            "link set n1x3 master bridge1"])
        self.assertNotIn("ens11f0", " ".join(plan.node_lines(self.nodes[0])))
        self.assertEqual(plan.route_lines(self.nodes[0]), ["route add default via 10.0.0.1 dev eno1"])

    def test_slurm(self):
        text = slurm_conf.slurm_conf(self.nodes, "10.0.0.1")
        self.assertIn("NodeName=server2 NodeAddr=10.0.0.12 CPUs=16", text)
        self.assertIn("SlurmctldHost=head(10.0.0.1)", text)
        self.assertEqual(slurm_conf.gres_conf(self.nodes[:1]), "NodeName=server1 Name=gpu File=/dev/nvidia0\n")

    def test_laid_out_without_what_is_live(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            fixture.lay_out(self.nodes[0], root)
            card = root / "sys/class/net/ens11f1"
            self.assertEqual((card / "speed").read_text(), "25000\n")
            self.assertFalse((card / "carrier").exists())
            self.assertFalse((root / "sys/class/infiniband/mlx5_1/ports/1/gid_attrs/types/4").exists())

    def test_change_in_place(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            fixture.lay_out(self.nodes[0], root)
            state = "sys/class/infiniband/mlx5_1/ports/1/state"
            before = (root / state).stat().st_ino
            fixture.change(root, state, "1: DOWN")
            self.assertEqual((root / state).read_text(), "1: DOWN\n")
            self.assertEqual((root / state).stat().st_ino, before)
            (root / "out").symlink_to("/etc/hostname")
            for path, value in (("../x", "1"), ("/etc/hostname", "1"), ("out", "1"), ("sys/nosuch", "1"), ("sys", "1"),
                                (state, "1\n2")):
                with self.subTest(path), self.assertRaises(ClusterError):
                    fixture.change(root, path, value)


if __name__ == "__main__":
    unittest.main()
