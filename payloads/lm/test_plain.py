# SPDX-License-Identifier: Apache-2.0
"""What needs no PyTorch: ranks, command line, order of the data, schedule, text, figures."""
import unittest
import zlib

from lm import corpus, metrics, options, order, ranks, schedule, tokenizer
from lm.problem import WRONG_USE, Problem

LAUNCHED = {"RANK": "1", "WORLD_SIZE": "3", "LOCAL_RANK": "0", "MASTER_ADDR": "10.0.0.11", "MASTER_PORT": "20000"}


def message(test, action, status=WRONG_USE):
    """The text of the Problem that action() raises, with that status."""
    with test.assertRaises(Problem) as raised:
        action()
    test.assertEqual(raised.exception.status, status)
    return str(raised.exception)


class RanksTest(unittest.TestCase):
    """The launcher's variables."""

    def test_good(self):
        for environment, want in (({}, ranks.Ranks()),
                                  ({"SLURM_STEP_NUM_TASKS": "1"}, ranks.Ranks()),
                                  (LAUNCHED, ranks.Ranks(1, 3, 0, "10.0.0.11", 20000, True)),
                                  (LAUNCHED | {"LOCAL_RANK": "5"}, ranks.Ranks(1, 3, 5, "10.0.0.11", 20000, True))):
            self.assertEqual(ranks.read(environment), want, environment)

    def test_bad(self):
        without = {name: {key: value for key, value in LAUNCHED.items() if key != name} for name in LAUNCHED}
        for environment, want in (
                ({"SLURM_STEP_NUM_TASKS": "3"}, "RANK: not set in a step of 3 tasks"),
                (without["RANK"], "RANK: not set, but WORLD_SIZE=3, MASTER_ADDR=10.0.0.11"),
                (without["MASTER_PORT"], "MASTER_PORT: not set, but RANK=1"),
                (LAUNCHED | {"MASTER_ADDR": ""}, "MASTER_ADDR: not set"),
                (LAUNCHED | {"RANK": "3"}, 'RANK: got "3", expected a number from 0 to 2'),
                (LAUNCHED | {"RANK": "-1"}, 'RANK: got "-1"'),
                (LAUNCHED | {"RANK": "one"}, 'RANK: got "one"'),
                (LAUNCHED | {"RANK": "\u0661"}, "RANK: got"),
                (LAUNCHED | {"WORLD_SIZE": "0"}, 'WORLD_SIZE: got "0", expected a number from 1'),
                (LAUNCHED | {"WORLD_SIZE": "3.0"}, 'WORLD_SIZE: got "3.0"'),
                (LAUNCHED | {"LOCAL_RANK": "x"}, 'LOCAL_RANK: got "x"'),
                (LAUNCHED | {"MASTER_PORT": "65536"}, 'MASTER_PORT: got "65536", expected a number from 1 to 65535')):
            got = message(self, lambda environment=environment: ranks.read(environment))
            self.assertIn(want, got)
            self.assertIn("nccl-launch", got)


class OptionsTest(unittest.TestCase):
    """The command line."""

    def test_good(self):
        for words, name, want in (([], "steps", 300), ([], "min_lr", 3e-3 / 10), (["--lr", "1"], "min_lr", 0.1),
                                  (["--min-lr", "0"], "min_lr", 0.0), (["--data", "a", "b"], "data", ["a", "b"]),
                                  (["--compile"], "compile", True), (["--peak-tflops=989"], "peak_tflops", 989.0)):
            self.assertEqual(getattr(options.parse(words), name), want, words)

    def test_bad(self):
        for words, want in (
                (["--step", "5"], 'unrecognized arguments: --step 5; did you mean "--steps"?'),
                (["text.txt"], "unrecognized arguments: text.txt; --help lists all"),
                (["--steps"], "argument --steps: expected one argument"),
                (["--steps", "0"], 'argument --steps: got "0", expected a whole number from 1'),
                (["--steps", "ten"], 'argument --steps: got "ten"'),
                (["--steps", "1e3"], 'argument --steps: got "1e3"'),
                (["--keep", "0"], 'argument --keep: got "0", expected a whole number from 1'),
                (["--global-batch", "-4"], 'argument --global-batch: '),
                (["--lr", "0"], 'argument --lr: got "0", expected a number above 0'),
                (["--lr", "nan"], 'argument --lr: got "nan"'),
                (["--lr", "inf"], 'argument --lr: got "inf"'),
                (["--dropout", "1"], 'argument --dropout: got "1", expected a number from 0 to 0.9'),
                (["--eval-share", "0.6"], 'argument --eval-share: got "0.6", expected a number from 0 to 0.5'),
                (["--peak-tflops", "0"], 'argument --peak-tflops: got "0", expected a number above 0'),
                (["--resume", "yes"], "argument --resume: invalid choice: 'yes' (choose from 'auto', 'never')"),
                (["--parallel", "tp"], "argument --parallel: invalid choice: 'tp'"),
                (["--data"], "argument --data: expected at least one argument"),
                (["--width", "130"], "--width 130: expected a multiple of --heads 4"),
                (["--min-lr", "1"], "--min-lr 1: expected at most --lr 0.003"),
                (["--steps", "20"], "--warmup 20: expected less than --steps 20"),
                (["--out", ""], '--out: got "", expected a folder'),
                (["--precision", "bf16", "--device", "cpu"], "--precision bf16: needs a GPU")):
            self.assertIn(want, message(self, lambda words=words: options.parse(words)))

    def test_a_batch_has_a_sequence_for_each_rank(self):
        chosen = options.parse(["--global-batch", "3"])
        options.check_batch(chosen, 3)
        self.assertIn("--global-batch 3: 4 ranks", message(self, lambda: options.check_batch(chosen, 4)))


class OrderTest(unittest.TestCase):
    """Which rank sees what."""

    def test_an_epoch_has_each_window_once_in_another_order(self):
        for count in (1, 2, 3, 64, 65, 1000):
            epochs = [order.windows(epoch * count, count, count, seed=1) for epoch in range(3)]
            for epoch in epochs:
                self.assertEqual(sorted(epoch), list(range(count)))
            if count > 60:
                self.assertNotEqual(epochs[0], epochs[1])
                self.assertNotEqual(epochs[0], order.windows(0, count, count, seed=2))
                self.assertNotEqual(epochs[0], list(range(count)))

    def test_ranks_take_a_step_apart_and_miss_nothing(self):
        for count in (1, 6, 12, 13):
            for size in (1, 2, 3, 5):
                for most in (1, 4, 100):
                    rounds = order.rounds(count, size, most)
                    pieces = [order.split(order.share(count, rank, size), rounds) for rank in range(size)]
                    self.assertEqual([one for rank in pieces for piece in rank for one in piece], list(range(count)))
                    self.assertLessEqual(max(len(piece) for rank in pieces for piece in rank), most)
                    self.assertEqual({len(rank) for rank in pieces}, {rounds})

    def test_the_order_stays_from_release_to_release(self):
        self.assertEqual(order.windows(98, 6, 100, seed=1), [54, 48, 8, 6, 14, 84])


class FiguresTest(unittest.TestCase):
    """Schedule, corpus, tokens, floating point operations."""

    def test_schedule(self):
        rates = [schedule.learning_rate(step, 10, 3, 3.0, 1.0) for step in range(10)]
        self.assertEqual(rates[:3], [1.0, 2.0, 3.0])
        self.assertEqual(rates[3], 3.0)
        self.assertAlmostEqual(rates[6], 2.0)
        self.assertEqual(rates[9], 1.0)
        self.assertEqual(schedule.learning_rate(0, 1, 0, 3.0, 1.0), 3.0)

    def test_the_corpus_is_the_same_everywhere(self):
        text = corpus.text()
        self.assertEqual((len(text), f"{zlib.crc32(text):08x}"), (125921, "7acecb41"))
        self.assertIn(b"\nseven and seven are fourteen.\n", text)

    def test_bytes_are_tokens(self):
        words = tokenizer.Bytes()
        text = "Grüße\0".encode()
        self.assertEqual(list(words.encode(text)), list(text))
        self.assertEqual(words.decode([*text, words.end]), "Grüße\0")
        self.assertEqual(words.decode([0xFF, 65]), "\ufffdA")

    def test_peak(self):
        for given, gpu, precision, want in ((5.0, None, "float32", 5.0), (None, "NVIDIA H200", "bf16", 989.0),
                                            (None, "NVIDIA A100-SXM4-80GB", "bf16", 312.0), (None, "NVIDIA H100 PCIe", "bf16", 756.0),
                                            (None, "NVIDIA H200", "float32", None), (None, "NVIDIA A10G", "bf16", None),
                                            (None, "Unknown", "bf16", None), (None, None, "bf16", None)):
            self.assertEqual(metrics.peak_tflops(given, gpu, precision), want, (given, gpu, precision))

    def test_utilisation(self):
        self.assertEqual(metrics.flops_of_token(1000, 2, 8, 4), 6000 + 768)
        self.assertAlmostEqual(metrics.utilisation(1e6, 2e9, 500.0, 8), 0.5)
        self.assertIsNone(metrics.utilisation(1e6, 2e9, None, 8))

    def test_covered(self):
        for intervals, want in (([], 0), ([(1, 3)], 2), ([(1, 3), (2, 5)], 4), ([(4, 5), (1, 2)], 2), ([(1, 9), (2, 3), (8, 10)], 9)):
            self.assertEqual(metrics.covered(intervals), want, intervals)


if __name__ == "__main__":
    unittest.main()
