# SPDX-License-Identifier: Apache-2.0
"""The models: a small GPT of our own, and any causal language model of a Hugging Face folder.

A model is called with tokens (batch, time) and gives logits (batch, time, vocabulary). `Described` goes with it: what
checkpoints and figures need to know of it."""
import json
import math
import os
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

from lm import tokenizer
from lm.problem import WRONG_USE, Problem

VOCABULARY_STEP = 64  # the vocabulary is rounded up to it: what matrix units like
INITIAL = 0.02        # standard deviation of weights, as GPT-2's
# What a config.json says of where it comes from, not of the model.
NOT_SETTINGS = ("_name_or_path", "transformers_version", "torch_dtype", "dtype", "use_cache")


@dataclass(frozen=True)
class Described:
    """A model with its tokenizer, its settings as plain values, and the tokens of a window. `looked_up`: parameters that
    are only looked up, in no matrix product."""

    model: nn.Module
    tokenizer: object
    settings: dict
    context: int
    layers: int
    width: int
    looked_up: int


class Attention(nn.Module):
    """Causal self-attention of several heads."""

    def __init__(self, width, heads, dropout):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.inward = nn.Linear(width, 3 * width)
        self.outward = nn.Linear(width, width)

    def forward(self, x):
        """(batch, time, width) to the same."""
        batch, time, width = x.shape
        query, key, value = (part.view(batch, time, self.heads, width // self.heads).transpose(1, 2)
                             for part in self.inward(x).chunk(3, dim=-1))
        dropout = self.dropout if self.training else 0.0
        return self.outward(self._mixed(query, key, value, dropout).transpose(1, 2).reshape(batch, time, width))

    @staticmethod
    def _mixed(query, key, value, dropout):
        if hasattr(functional, "scaled_dot_product_attention"):  # torch 2
            return functional.scaled_dot_product_attention(query, key, value, dropout_p=dropout, is_causal=True)
        time = query.shape[-2]
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
        future = torch.ones(time, time, dtype=torch.bool, device=query.device).triu(1)
        return functional.dropout(scores.masked_fill(future, float("-inf")).softmax(dim=-1), dropout) @ value


class Block(nn.Module):
    """One layer: attention and two linear maps, each behind a norm and added."""

    def __init__(self, width, heads, dropout):
        super().__init__()
        self.before_attention, self.before_map = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads, dropout)
        self.widen, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        """(batch, time, width) to the same."""
        x = x + self.dropout(self.attention(self.before_attention(x)))
        return x + self.dropout(self.narrow(functional.gelu(self.widen(self.before_map(x)))))


class Gpt(nn.Module):
    """A GPT with learned positions; the embedding is also the last map."""

    def __init__(self, vocabulary, context, layers, heads, width, dropout):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.ModuleList(Block(width, heads, dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self._draw(layers)

    def _draw(self, layers):
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1:
                # What is added to the sum of all layers starts smaller, so that the sum does not grow with them.
                ends_layer = name.endswith(("outward.weight", "narrow.weight"))
                nn.init.normal_(parameter, std=INITIAL / math.sqrt(2 * layers) if ends_layer else INITIAL)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)

    def forward(self, tokens):
        """Tokens (batch, time) to logits (batch, time, vocabulary)."""
        x = self.dropout(self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1], device=tokens.device)))
        for block in self.blocks:
            x = block(x)
        return functional.linear(self.norm(x), self.tokens.weight)


class _Logits(nn.Module):
    """A model of transformers that gives its logits alone."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, tokens):
        """As Gpt's."""
        return self.inner(input_ids=tokens, use_cache=False).logits


def own(layers, heads, width, context, dropout, seed):
    """A Gpt over bytes, drawn from `seed`: the same on every rank."""
    torch.manual_seed(seed)
    words = tokenizer.Bytes()
    vocabulary = -(-words.size // VOCABULARY_STEP) * VOCABULARY_STEP
    settings = {"kind": "gpt", "layers": layers, "heads": heads, "width": width, "context": context, "vocabulary": vocabulary}
    return Described(Gpt(vocabulary, context, layers, heads, width, dropout), words, settings, context, layers, width, context * width)


def from_settings(settings, folder=None):
    """The model that a checkpoint's `model` settings describe, weights not loaded. `folder`: of a Hugging Face model."""
    if settings["kind"] == "gpt":
        return own(*(settings[key] for key in ("layers", "heads", "width", "context")), dropout=0.0, seed=0)
    if not folder:
        raise Problem(f"checkpoint: is of a Hugging Face model ({settings.get('model_type')}); give its folder with --model", WRONG_USE)
    return of_folder(folder, settings["context"])


def read_config(folder):
    """config.json of a Hugging Face folder; Problem when it is not one."""
    path = os.path.join(folder, "config.json")
    try:
        with open(path, encoding="utf-8") as file:
            config = json.load(file)
    except OSError as error:
        raise Problem(f"--model {folder}: {path}: {error.strerror}; expected the folder of a Hugging Face model", WRONG_USE) from error
    except ValueError as error:
        raise Problem(f"--model {folder}: {path}: not JSON ({error}); copy the folder again", WRONG_USE) from error
    if not isinstance(config, dict) or not isinstance(config.get("model_type"), str):
        raise Problem(f'--model {folder}: {path}: has no "model_type", which transformers needs; copy the folder again', WRONG_USE)
    return config


def of_folder(folder, context):
    """The model and tokenizer of a Hugging Face folder on disk; nothing is downloaded. `context`: tokens of a window."""
    config = read_config(folder)
    try:
        import transformers  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise Problem(f"--model {folder}: needs the Python package transformers, which this Python does not have ({error}); install "
                      "it, or leave --model out for the model that is built in", WRONG_USE) from error
    try:
        words = tokenizer.OfModel(transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True), config["model_type"])
        model = transformers.AutoModelForCausalLM.from_pretrained(folder, local_files_only=True)
    except Exception as error:  # transformers raises all kinds
        raise Problem(f"--model {folder}: transformers cannot load it: {type(error).__name__}: {error}", WRONG_USE) from error
    longest = config.get("max_position_embeddings") or config.get("n_positions") or context
    if context > longest:
        raise Problem(f"--context {context}: {folder} takes at most {longest} tokens", WRONG_USE)
    settings = {key: value for key, value in config.items() if key not in NOT_SETTINGS} | {"kind": "folder", "context": context}
    inward, outward = model.get_input_embeddings(), model.get_output_embeddings()
    looked_up = inward.weight.numel() if inward and outward and inward.weight is not outward.weight else 0
    return Described(_Logits(model.float()), words, settings, context, config.get("num_hidden_layers") or config.get("n_layer") or 0,
                     config.get("hidden_size") or config.get("n_embd") or 0, looked_up)


def layer_class(model):
    """The class of the layers: that of the longest list of modules in the model. None without one."""
    lists = [module for module in model.modules() if isinstance(module, nn.ModuleList) and len(module)]
    return type(max(lists, key=len)[0]) if lists else None
