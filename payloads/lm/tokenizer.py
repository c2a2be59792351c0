# SPDX-License-Identifier: Apache-2.0
"""Text to tokens and back: a byte is a token, or as a Hugging Face model has it."""
from array import array


class Bytes:
    """256 bytes and one token that ends a text. Any bytes are valid; nothing is ever unknown."""

    name = "bytes"
    end = 256
    size = 257

    def encode(self, data):
        """Tokens (array of unsigned 8-bit numbers) of bytes; without `end`."""
        return array("B", data)

    def decode(self, tokens):
        """Text of tokens; what is no UTF-8 is replaced, the end token is left out."""
        return bytes(token for token in tokens if token < 256).decode("utf-8", errors="replace")


class OfModel:
    """The tokenizer of a Hugging Face model (an object of transformers)."""

    def __init__(self, tokenizer, name):
        self._tokenizer, self.name = tokenizer, name
        self.size = len(tokenizer)
        self.end = tokenizer.eos_token_id

    def encode(self, data):
        """Tokens (array of unsigned 32-bit numbers) of bytes, which are read as UTF-8; what is none is replaced."""
        return array("I", self._tokenizer.encode(data.decode("utf-8", errors="replace"), add_special_tokens=False))

    def decode(self, tokens):
        """Text of tokens."""
        return self._tokenizer.decode(list(tokens), skip_special_tokens=True)
