# SPDX-License-Identifier: Apache-2.0
"""The learning rate of a step."""
import math


def learning_rate(step, steps, warmup, high, low):
    """Of step 0..steps-1: rises to `high` over `warmup` steps, then falls to `low` as half a cosine. The first step is not 0,
    and the last is `low`."""
    if step < warmup:
        return high * (step + 1) / warmup
    part = (step - warmup) / max(1, steps - 1 - warmup)
    return low + (high - low) * 0.5 * (1 + math.cos(math.pi * min(1.0, part)))
