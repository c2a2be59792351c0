# SPDX-License-Identifier: Apache-2.0
"""The text that is trained on where no --data is given: sentences of our own that a small grammar makes, the same bytes on
every machine. It says of itself what is likely next, so that a small model learns it in minutes: numbers are counted, sums are
right, a node keeps its rack."""
from lm.order import mix

SENTENCES = 3000
SEED = 20260101

NUMBERS = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
           "eighteen").split()
PARTS = ("a link", "a card", "a rail", "a switch", "a cable", "a queue", "a rank", "a node")
DEEDS = ("carries", "waits for", "finds", "answers", "counts", "passes on", "holds back", "is ready for")
THINGS = ("the first message", "every packet", "the next step", "a large sum", "the last gradient", "its neighbour")
REASONS = ("because the road is free", "because nobody else can", "until the work is done", "as it did before",
           "and then it rests", "so that no one waits")
RACKS = 4


class _Chance:
    """Numbers that look like chance and are the same everywhere."""

    def __init__(self, seed):
        self._state = seed

    def below(self, limit):
        """A number from 0 to limit - 1."""
        self._state = mix(self._state)
        return self._state % limit

    def one_of(self, words):
        """One of them."""
        return words[self.below(len(words))]


def _sum(chance):
    left, right = chance.below(10), chance.below(9)
    return f"{NUMBERS[left]} and {NUMBERS[right]} are {NUMBERS[left + right]}."


def _count(chance):
    first = chance.below(12)
    return f"we count: {', '.join(NUMBERS[first:first + 5])}."


def _place(chance):
    node = chance.below(16)
    return f"node {node} stands in rack {node % RACKS} and speaks to node {(node + 1) % 16}."


def _deed(chance):
    return f"{chance.one_of(PARTS)} {chance.one_of(DEEDS)} {chance.one_of(THINGS)} {chance.one_of(REASONS)}."


def text(sentences=SENTENCES, seed=SEED):
    """Bytes of that many sentences, one a line."""
    chance = _Chance(seed)
    return "".join(f"{chance.one_of((_sum, _count, _place, _deed))(chance)}\n" for _ in range(sentences)).encode("ascii")
