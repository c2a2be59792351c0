# SPDX-License-Identifier: Apache-2.0
"""How all ranks end with one, and what they agree on, over a real store and real processes."""
import os
import socket
import subprocess
import sys
import unittest
from pathlib import Path

try:
    import torch
except ImportError:
    torch = None

PAYLOADS = Path(__file__).resolve().parents[1]
# A rank that trains, fails, or waits for the others for ever, as argv[1] says.
RANK = """
import os, sys
import train_lm
from lm import ranks, world
from lm.problem import Problem

def say(text):
    os.write(1, (text + "\\n").encode())

joined = []
own = ranks.read(os.environ)
try:
    joined.append(world.World(own))
    say(f"joined {joined[0].gather(own.rank)}")
    if sys.argv[1] == "agree":
        def act():
            if own.rank:
                raise Problem("no such thing", 2)
        joined[0].agree(act)
    elif own.rank == int(sys.argv[2]):
        raise MemoryError("of this rank alone")
    joined[0].gather("waits")
except Exception as error:
    os._exit(train_lm.failed(error, own, joined))
"""


@unittest.skipUnless(torch, "no PyTorch")
class EndTest(unittest.TestCase):
    """Ranks on this machine."""

    def free_port(self):
        """A port that nobody has right now."""
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            return one.getsockname()[1]

    def run_ranks(self, size, *words):
        """Status of each and all that they wrote to stderr."""
        port = str(self.free_port())
        environment = {**os.environ, "WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "PYTHONPATH": str(PAYLOADS),
                       "OMP_NUM_THREADS": "1", "USE_LIBUV": "0", "GLOO_SOCKET_IFNAME": "lo"}
        started = [subprocess.Popen([sys.executable, "-c", RANK, *words], env={**environment, "RANK": str(rank)}, text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE) for rank in range(size)]
        ends = [one.communicate(timeout=100) for one in started]
        self.assertEqual([out for out, _ in ends], [f"joined {list(range(size))}\n"] * size, ends)
        return [one.returncode for one in started], "".join(err for _, err in ends)

    def test_what_one_rank_lacks_it_says_and_all_end(self):
        self.assertEqual(self.run_ranks(2, "agree"), ([2, 2], "train_lm: rank 1: no such thing\n"))

    def test_a_rank_that_fails_alone_ends_those_that_wait_for_it(self):
        # Rank 0, which has the store in which it leaves word.
        self.assertEqual(self.run_ranks(2, "alone", "0"),
                         ([1, 1], "train_lm: rank 0: no memory left: MemoryError: of this rank alone; a smaller --micro-batch or --context "
                                  "needs less\n"))


if __name__ == "__main__":
    unittest.main()
