# SPDX-License-Identifier: Apache-2.0
"""What needs PyTorch, in one process: model, text, checkpoints, what a run that goes on comes to."""
import contextlib
import io
import json
import os
import sys
import tempfile
import types
import unittest
from unittest import mock

try:
    import torch
    from lm import checkpoint, data, model, parallel, setup, tokenizer, trainer, world
except ImportError:
    torch = None
import train_lm
from lm import checkpoint_files as files
from lm import options, ranks
from lm.problem import DONE, NOT_SAVED, STOPPED, WRONG_USE, Problem

SMALL = ("--layers 1 --heads 2 --width 16 --context 16 --global-batch 2 --micro-batch 1 --steps 6 --warmup 1 --eval-windows 4 "
         "--save-every 2 --device cpu").split()


def stand_in():
    """What we use of the package transformers, over a model of one layer and a tokenizer of characters."""
    class Model(torch.nn.Module):
        """As AutoModelForCausalLM gives it."""

        def __init__(self):
            super().__init__()
            torch.manual_seed(1)
            self.inward, self.outward = torch.nn.Embedding(128, 8), torch.nn.Linear(8, 128)

        def get_input_embeddings(self):
            """Of transformers."""
            return self.inward

        def get_output_embeddings(self):
            """Of transformers."""
            return self.outward

        def forward(self, input_ids, use_cache):
            """Logits in an object."""
            assert use_cache is False
            return types.SimpleNamespace(logits=self.outward(self.inward(input_ids)))

    words = mock.MagicMock(eos_token_id=0)
    words.__len__.return_value = 128
    words.encode = lambda text, add_special_tokens: [ord(one) % 128 for one in text]
    return types.SimpleNamespace(AutoTokenizer=mock.Mock(from_pretrained=mock.Mock(return_value=words)),
                                 AutoModelForCausalLM=mock.Mock(from_pretrained=mock.Mock(return_value=Model())))


class StopAfter:
    """Asks for the end in a step."""

    signal = "SIGTERM"

    def __init__(self, steps=1000):
        self._left = steps

    @property
    def wanted(self):
        """As the trainer asks, once a step."""
        self._left -= 1
        return self._left < 0


@unittest.skipUnless(torch, "no PyTorch")
class TrainingTest(unittest.TestCase):
    """A Trainer of one rank, in a folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        torch.set_num_threads(1)

    def path(self, name):
        """In the folder."""
        return os.path.join(self.folder, name)

    def train(self, name, *words, stop=1000):
        """Status, what it said on stderr."""
        chosen = options.parse([*SMALL, "--out", self.path(name), *words])
        said = io.StringIO()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
            status = trainer.Trainer(chosen, world.World(ranks.Ranks()), "alone", StopAfter(stop)).run()
        return status, said.getvalue()

    def problem(self, name, *words):
        """The Problem of a training."""
        with self.assertRaises(Problem) as raised:
            self.train(name, *words)
        return raised.exception

    def rows(self, name, event):
        """Those lines of its log."""
        with open(self.path(name) + "/log.jsonl", encoding="utf-8") as file:
            return [row for row in map(json.loads, file) if row["event"] == event]

    def weights(self, name):
        """What it ended with."""
        return self.rows(name, "end")[-1]["weights"]

    def steps(self, name):
        """Its checkpoints."""
        return sorted(os.listdir(self.path(name) + "/checkpoints"))

    def damage(self, name, step, file="state.pt"):
        """Changes a byte in the middle."""
        path = os.path.join(self.path(name), "checkpoints", files.name_of(step), file)
        with open(path, "r+b") as out:
            out.seek(os.path.getsize(path) // 2)
            byte = out.read(1)
            out.seek(-1, os.SEEK_CUR)
            out.write(bytes([byte[0] ^ 1]))

    def test_stopped_and_gone_on_with_it_ends_with_the_same_weights(self):
        # With dropout, so that the state of chance counts.
        self.assertEqual(self.train("whole", "--dropout", "0.1"), (DONE, ""))
        self.assertEqual(self.train("parts", "--dropout", "0.1", stop=2)[0], STOPPED)
        self.assertEqual(self.steps("parts"), ["step-00000002", "step-00000003"])
        self.assertEqual(self.train("parts", "--dropout", "0.1")[0], DONE)
        self.assertEqual(self.weights("parts"), self.weights("whole"))
        self.assertEqual([row["loss"] for row in self.rows("parts", "step")], [row["loss"] for row in self.rows("whole", "step")])
        self.assertEqual(self.steps("parts"), ["step-00000003", "step-00000004", "step-00000006"])
        # Once more: nothing is left to do.
        self.assertEqual(self.train("parts", "--dropout", "0.1")[0], DONE)
        self.assertEqual(len(self.rows("parts", "step")), 6)

    def test_the_newest_that_is_whole_is_used_and_the_damaged_one_kept(self):
        self.train("whole")
        self.train("parts", stop=4)
        self.damage("parts", 5)
        status, said = self.train("parts")
        self.assertEqual(status, DONE)
        self.assertRegex(said, r"^train_lm: rank 0: checkpoint step-00000005 is damaged: state.pt: its sum \(crc32\) is ........, expected "
                               r"........; it is step-00000005.damaged now, and step-00000004 is gone on from\n$")
        self.assertEqual(self.weights("parts"), self.weights("whole"))
        self.assertIn("step-00000005.damaged", self.steps("parts"))

    def test_what_cannot_be_gone_on_from(self):
        self.train("done", stop=3)
        texts = self.path("text")
        with open(texts, "wb") as file:
            file.write(b"another text. " * 100)
        for words, want in ((["--width", "32"], "is of another model: width: 16 in the checkpoint, 32 now. "),
                            (["--layers", "2", "--context", "8"], "context: 16 in the checkpoint, 8 now; layers: 1 in the checkpoint, 2 now"),
                            (["--data", texts], "is of another data: crc32: 7acecb41 in the checkpoint, "),
                            (["--resume", "never"], "--resume never: ")):
            problem = self.problem("done", *words)
            self.assertIn(want, str(problem))
            self.assertEqual(problem.status, WRONG_USE)
        for step in (2, 4):
            self.damage("done", step)
        self.assertRegex(str(self.problem("done")), "none is whole: step-00000004: state.pt: .*; step-00000002: state.pt: .*Give another")
        self.assertEqual(self.steps("done"), ["step-00000002", "step-00000004"])

    def test_other_options_are_told_and_used(self):
        self.train("done", "--min-lr", "1e-4", stop=3)
        self.train("done", "--min-lr", "1e-4", "--lr", "1e-3", "--seed", "2")
        self.assertEqual(self.rows("done", "resume")[0]["changed"], ["lr: 0.003 in the checkpoint, 0.001 now",
                                                                     "seed: 1 in the checkpoint, 2 now"])
        self.assertEqual(self.rows("done", "step")[-1]["lr"], 1e-4)

    def test_a_full_disk_leaves_the_older_one(self):
        self.train("done", stop=1)
        with mock.patch("os.fsync", side_effect=OSError(28, "No space left on device")):
            problem = self.problem("done")
        self.assertEqual((problem.status, problem.rank), (NOT_SAVED, 0))
        self.assertIn("step-00000004: cannot be written: No space left on device; step-00000002 is whole", str(problem))
        self.assertEqual(self.train("done"), (DONE, ""))

    def test_a_loss_that_is_none_ends_it_and_saves_nothing_of_it(self):
        self.assertIn("the loss is nan", str(self.problem("wild", "--lr", "1e30", "--min-lr", "1e30", "--clip", "0", "--warmup", "0")))
        self.assertFalse(os.path.exists(self.path("wild") + "/checkpoints"))

    def test_text_that_does_not_do(self):
        empty, short = self.path("empty"), self.path("short")
        for path, content in ((empty, b""), (short, b"few words")):
            with open(path, "wb") as file:
                file.write(content)
        for words, want in (([self.path("none")], "No such file or directory; every rank reads it"), ([self.folder], "Is a directory"),
                            ([empty], "is empty; expected text"), ([short], "has 10 tokens, 0 windows of --context 16; expected at least 2"),
                            ([short, empty], "is empty")):
            problem = self.problem("out", "--data", *words)
            self.assertIn(want, str(problem))
            self.assertEqual(problem.status, WRONG_USE)

    def test_a_model_from_a_folder(self):
        os.mkdir(self.path("model"))
        with open(self.path("model") + "/config.json", "w", encoding="ascii") as file:
            json.dump({"model_type": "tiny", "n_positions": 32, "n_layer": 1, "n_embd": 8, "_name_or_path": "x"}, file)
        with mock.patch.dict(sys.modules, {"transformers": stand_in()}):
            self.assertEqual(self.train("out", "--model", self.path("model")), (DONE, ""))
            self.assertIn("--context 64: ", str(self.problem("out", "--model", self.path("model"), "--context", "64")))
            about = files.read_about(self.path("out") + "/checkpoints/step-00000006")
            self.assertEqual(about["tokenizer"], "tiny")
            self.assertEqual(about["model"], {"model_type": "tiny", "n_positions": 32, "n_layer": 1, "n_embd": 8, "kind": "folder",
                                              "context": 16})
            losses = [row["loss"] for row in self.rows("out", "step")]
            self.assertLess(losses[-1], losses[0])
        self.assertIn("is of another model: ", str(self.problem("out")))

    def test_windows_cover_the_text_and_the_part_held_back_is_never_trained_on(self):
        text = data.Text([("a", bytes(range(100)))], tokenizer.Bytes(), 9, 0.2)
        self.assertEqual((len(text), text.trained, text.evaluated), (101, 9, 2))
        rows = text.training(0, range(9), 1).tolist()
        self.assertEqual(sorted(row[0] for row in rows), list(range(0, 81, 9)))
        self.assertTrue(all(row == list(range(row[0], row[0] + 10)) for row in rows))
        self.assertEqual([row[0] for row in text.evaluation(range(2)).tolist()], [81, 90])


@unittest.skipUnless(torch, "no PyTorch")
class ModelTest(unittest.TestCase):
    """Models, and what a machine offers."""

    def test_no_token_sees_a_later_one(self):
        one = model.own(2, 2, 16, 8, 0.0, seed=1).model
        tokens = torch.arange(8)[None]
        changed = tokens.clone()
        changed[0, 5] = 99
        before, after = one(tokens), one(changed)
        self.assertTrue(torch.equal(before[0, :5], after[0, :5]))
        self.assertFalse(torch.equal(before[0, 5:], after[0, 5:]))
        self.assertEqual(tuple(before.shape), (1, 8, 320))

    def test_weights_come_from_the_seed_and_go_through_a_checkpoint(self):
        one = model.own(1, 2, 16, 8, 0.0, seed=1)
        self.assertEqual(trainer.digest(one.model.state_dict()), trainer.digest(model.own(1, 2, 16, 8, 0.5, seed=1).model.state_dict()))
        self.assertNotEqual(trainer.digest(one.model.state_dict()), trainer.digest(model.own(1, 2, 16, 8, 0.0, seed=2).model.state_dict()))
        with tempfile.TemporaryDirectory() as folder:
            written = checkpoint.write_file(os.path.join(files.begin(folder, 1), "state.pt"), {"model": one.model.state_dict()})
            files.finish(folder, 1, {"v": 1, "step": 1, "sequences": 2, "ranks": 1, "layout": "whole", "model": one.settings, "data": {},
                                     "training": {}, "files": {"state.pt": written}})
            path = os.path.join(folder, files.name_of(1))
            again = model.from_settings(files.read_about(path)["model"]).model
            self.assertEqual(checkpoint.load_weights(path, again)["step"], 1)
        self.assertEqual(trainer.digest(again.state_dict()), trainer.digest(one.model.state_dict()))

    def of_folder(self, config):
        """The Problem of a --model folder with that config.json; None: without one."""
        with tempfile.TemporaryDirectory() as folder:
            if config is not None:
                with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
                    file.write(config)
            with self.assertRaises(Problem) as raised:
                model.of_folder(folder, 16)
        return str(raised.exception)

    def test_folders_that_are_no_models(self):
        with mock.patch.dict(sys.modules, {"transformers": None}):
            for config, want in ((None, "config.json: No such file or directory; expected the folder of a Hugging Face model"),
                                 ("", "not JSON"), ('{"model_type": "gpt2"', "not JSON"), ("[]", 'has no "model_type"'),
                                 ('{"architectures": []}', 'has no "model_type"'), ('{"model_type": 1}', 'has no "model_type"'),
                                 ('{"model_type": "gpt2"}', "needs the Python package transformers")):
                self.assertIn(want, self.of_folder(config))

    def test_what_transformers_raises_is_passed_on(self):
        raising = mock.Mock(side_effect=OSError("no file named pytorch_model.bin"))
        stand_in = types.SimpleNamespace(AutoTokenizer=mock.Mock(), AutoModelForCausalLM=types.SimpleNamespace(from_pretrained=raising))
        stand_in.AutoTokenizer.from_pretrained.return_value = mock.MagicMock()
        with mock.patch.dict(sys.modules, {"transformers": stand_in}):
            self.assertIn("transformers cannot load it: OSError: no file named pytorch_model.bin", self.of_folder('{"model_type": "gpt2"}'))
        self.assertEqual(raising.call_args.kwargs, {"local_files_only": True})

    def test_fsdp_needs_a_newer_torch(self):
        launched = ranks.Ranks(0, 2, 0, "a", 1, True)
        for wanted, version, want in (("auto", "1.13.1", "ddp"), ("ddp", "2.6.0+cu124", "ddp"), ("fsdp", "2.2.0a0", "fsdp"),
                                      ("fsdp", "2.10.1", "fsdp"), ("fsdp", "3.0", "fsdp")):
            self.assertEqual(parallel.kind_of(wanted, launched, version), want)
        self.assertEqual(parallel.kind_of("auto", ranks.Ranks(), "1.13.1"), "alone")
        for version in ("1.13.0a0", "1.13.1", "2.0.1", "2.1.2+cpu"):
            with self.assertRaisesRegex(Problem, f"--parallel fsdp: torch is {version.split('+', maxsplit=1)[0]}.*, expected 2.2 or newer"):
                parallel.kind_of("fsdp", launched, version)

    def test_no_gpu(self):
        with mock.patch("torch.cuda.is_available", return_value=False):
            self.assertEqual(world.choose_device("auto", 3).type, "cpu")
            with self.assertRaisesRegex(Problem, "--device cuda: torch .* sees no GPU here"):
                world.choose_device("cuda", 0)
        self.assertEqual(setup.choose_precision("auto", torch.device("cpu")), "float32")
        with self.assertRaisesRegex(Problem, "--precision bf16: needs a GPU that has it, got a processor"):
            setup.choose_precision("bf16", torch.device("cpu"))
        with mock.patch("torch.cuda.is_available", return_value=True), mock.patch("torch.cuda.device_count", return_value=4):
            with self.assertRaisesRegex(Problem, 'LOCAL_RANK: got 4, but there are 4 GPUs; start one task per GPU'):
                world.choose_device("auto", 4)

    def test_which_errors_say_that_another_rank_is_gone(self):
        for error, want in ((RuntimeError("[pair.cc:589] Read error [10.0.0.12]:4523: Connection reset by peer"), True),
                            (RuntimeError("Connection closed by peer [10.0.0.12]:4523"), True),
                            (RuntimeError("NCCL error in: ProcessGroupNCCL.cpp, remote process exited"), True),
                            (RuntimeError("mat1 and mat2 shapes cannot be multiplied"), False),
                            (ValueError("Connection reset by peer"), False)):
            self.assertEqual(world.is_lost(error), want, error)


class MainTest(unittest.TestCase):
    """What comes out of the program before there is a training."""

    def run_main(self, words, environment):
        """Status and stderr."""
        said = []
        with mock.patch("os.write", side_effect=lambda _, text: said.append(text.decode())):
            status = train_lm.main(words, environment)
        return status, "".join(said)

    def test_wrong_use(self):
        other = {"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "a", "MASTER_PORT": "1"}
        for words, environment, status, want in (
                (["--stops", "5"], {}, 2, 'train_lm: rank 0: unrecognized arguments: --stops 5; did you mean "--steps"?\n'),
                (["--stops", "5"], other, 2, ""),  # rank 0 says it
                ([], {"RANK": "0"}, 2, "train_lm: rank 0: WORLD_SIZE: not set, but RANK=0; expected all of RANK, WORLD_SIZE, MASTER_ADDR, "
                                       "MASTER_PORT; start it as: srun --mpi=pmix nccl-launch -- python3 train_lm.py ...\n")):
            self.assertEqual(self.run_main(words, environment), (status, want))

    def test_no_torch(self):
        with mock.patch.dict(sys.modules, {"torch": None}):
            status, said = self.run_main([], {})
        self.assertEqual(status, WRONG_USE)
        self.assertRegex(said, "^train_lm: rank 0: .* has no PyTorch .*; install Debian's python3-torch, or start with the python3 of")


if __name__ == "__main__":
    unittest.main()
