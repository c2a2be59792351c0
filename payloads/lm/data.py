# SPDX-License-Identifier: Apache-2.0
"""Text files to batches of tokens."""
import zlib

import torch

from lm import corpus, order
from lm.problem import WRONG_USE, Problem

KINDS = {"B": torch.uint8, "I": torch.int32}  # of the arrays that tokenizers give
OWN = "built in"  # the name of the text of lm/corpus.py


def read(paths):
    """(name, bytes) of each file; of the built-in text where there is none. Problem for what cannot be read or is empty."""
    if not paths:
        return [(OWN, corpus.text())]
    out = []
    for path in paths:
        try:
            with open(path, "rb") as file:
                content = file.read()
        except OSError as error:
            raise Problem(f"--data {path}: {error.strerror}; every rank reads it, so it must be on a file system that the nodes "
                          "share", WRONG_USE) from error
        if not content:
            raise Problem(f"--data {path}: is empty; expected text", WRONG_USE)
        out.append((path, content))
    return out


class Text:
    """The tokens of all texts in a row, in windows of `context` + 1 of which each shares its last token with the next. The last
    part, `held_back` of all windows, is for evaluation and never trained on."""

    def __init__(self, texts, tokenizer, context, held_back):
        """texts: (name, bytes) each. Problem where they are too short."""
        self._context = context
        self.digest = 0
        parts = []
        for _, content in texts:
            self.digest = zlib.crc32(content, self.digest)
            tokens = tokenizer.encode(content)
            parts.append(torch.frombuffer(tokens, dtype=KINDS[tokens.typecode]).to(torch.int32))
            if tokenizer.end is not None:
                parts.append(torch.tensor([tokenizer.end], dtype=torch.int32))
        self._tokens = torch.cat(parts)
        windows = (len(self._tokens) - 1) // context
        self.evaluated = max(1, round(windows * held_back)) if held_back else 0
        self.trained = windows - self.evaluated
        if self.trained < 1:
            names = ", ".join(name for name, _ in texts)
            raise Problem(f"--data: {names} has {len(self._tokens)} tokens, {windows} windows of --context {context}; expected at least "
                          f"{self.evaluated + 1}: more text or a smaller --context", WRONG_USE)

    def __len__(self):
        return len(self._tokens)

    def about(self):
        """What a checkpoint keeps of it, to be compared."""
        return {"crc32": f"{self.digest:08x}", "tokens": len(self._tokens), "windows": self.trained}

    def _window(self, number):
        return self._tokens[number * self._context:(number + 1) * self._context + 1]

    def training(self, first, part, seed):
        """Windows (a tensor of len(part) rows) of sequences first + i, for i of `part` (a range)."""
        numbers = order.windows(first + part.start, len(part), self.trained, seed) if part else []
        return self._rows(numbers)

    def evaluation(self, part):
        """Those windows (a range) of the part that is held back."""
        return self._rows([self.trained + number for number in part])

    def _rows(self, numbers):
        if not numbers:
            return torch.empty(0, self._context + 1, dtype=torch.int64)
        return torch.stack([self._window(number) for number in numbers]).long()
