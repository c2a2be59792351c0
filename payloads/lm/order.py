# SPDX-License-Identifier: Apache-2.0
"""Which windows of the text a step trains on, and which of them a rank takes.

The windows of a step depend on nothing but how many sequences came before, so they are the same on any number of ranks and
after any number of restarts. There is no state: the data position of a checkpoint is one number."""

MASK = (1 << 64) - 1
FEISTEL_ROUNDS = 4


def mix(value):
    """64 bits that look like chance and depend on all 64 of `value` (the finaliser of SplitMix64)."""
    value = (value + 0x9E3779B97F4A7C15) & MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & MASK
    return value ^ (value >> 31)


def place(index, count, key):
    """Where index (0 <= index < count) goes in a shuffle of 0..count-1 that `key` chooses: a Feistel network, walked until it
    is inside. Needs no list, however long the text is."""
    half = max(1, ((count - 1).bit_length() + 1) // 2)
    low = (1 << half) - 1
    while True:
        left, right = index >> half, index & low
        for turn in range(FEISTEL_ROUNDS):
            left, right = right, left ^ (mix(right ^ mix(key * FEISTEL_ROUNDS + turn)) & low)
        index = left << half | right
        if index < count:
            return index


def windows(first, amount, count, seed):
    """The windows (0..count-1) of sequences first..first+amount-1 of the training. Each epoch has another shuffle."""
    out = []
    for sequence in range(first, first + amount):
        epoch, index = divmod(sequence, count)
        out.append(place(index, count, mix(seed) ^ epoch))
    return out


def share(count, rank, size):
    """The part of `count` sequences that a rank takes: a range; parts differ by one at most."""
    return range(rank * count // size, (rank + 1) * count // size)


def rounds(count, size, most):
    """How many micro-batches of at most `most` sequences every rank does: as many on each, as FSDP's ranks meet in each."""
    largest = -(-count // size)
    return -(-largest // most)


def split(items, parts):
    """A sequence cut into `parts` that differ by one at most; some are empty where there are too few."""
    return [items[len(items) * part // parts:len(items) * (part + 1) // parts] for part in range(parts)]
