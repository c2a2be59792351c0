# SPDX-License-Identifier: Apache-2.0
"""Medians of paired runs, with what is known about them."""
import random
import statistics

RESAMPLES = 1000
COVERAGE = 0.95


def ratio_of_medians(pairs):
    """Of the first members to the second ones."""
    return statistics.median(one for one, _ in pairs) / statistics.median(other for _, other in pairs)


def difference_of_medians(pairs):
    """Of the first members less the second ones."""
    return statistics.median(one for one, _ in pairs) - statistics.median(other for _, other in pairs)


def bootstrap(pairs, statistic, seed):
    """The 95 % interval of the statistic: whole pairs are drawn again, percentiles of what comes out."""
    source = random.Random(seed)
    values = sorted(statistic(source.choices(pairs, k=len(pairs))) for _ in range(RESAMPLES))
    cut = (1 - COVERAGE) / 2
    return values[int(cut * RESAMPLES)], values[int((1 - cut) * RESAMPLES) - 1]


def relative_spread(values):
    """Half the distance between the quartiles in parts of the median: one wild run does not move it."""
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return (high - low) / 2 / middle
