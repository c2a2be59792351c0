# SPDX-License-Identifier: Apache-2.0
"""Our times beside nccl-tests', and nccl-tests' beside its own.

A round is one run of ours and two of nccl-tests, in an order drawn from the seed. The two of nccl-tests are the A/A: how
far the same program is from itself. The rounds of a collective are kept in a file, so that a later call goes on.
"""
import json
import random
import statistics
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from comparing import masks, runs, spread

COLLECTIVES = ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "alltoall", "sendrecv")
FLAGS = {1: "-b 8 -e 1G -f 4 -n 20 -w 1 -c 1", 2: "-b 8 -e 4M -f 8 -n 20 -w 1 -c 1"}
AGAIN = "again"  # nccl-tests' second run of a round
RUNS = {runs.OURS: runs.OURS, runs.THEIRS: runs.THEIRS, AGAIN: runs.THEIRS}
LONG_US, NEAR_RATIO, NEAR_US = 50.0, (0.98, 1.02), 0.3
SWEEP_RATIO = (0.95, 1.05)
SEED = 6


@dataclass(frozen=True)
class Judged:
    """One figure: a row's block, or the whole sweep."""

    what: str
    ours_us: float
    theirs_us: float
    ratio: float
    low: float  # of the ratio, 95 %
    high: float
    again: float  # the A/A ratio
    difference_us: float
    again_difference_us: float
    rule: str
    holds: bool


def order_of(number, seed=SEED):
    """The order of the runs in a round."""
    names = list(RUNS)
    random.Random(f"{seed}/{number}").shuffle(names)
    return names


def values_of(text):
    """(size, place) and time of each block of a table; the place in the table keeps equal sizes apart."""
    out = {}
    for number, row in enumerate(masks.measured_rows(text)):
        for place, value in zip(("out", "in"), row.times):
            out[f"{number} {row.size} {place}"] = value
    return out


def all_right(run):
    """Whether the run ended well and found all data right."""
    return run.status == 0 and "\n# Out of bounds values : 0 OK\n" in run.stdout


def judge(what, triples, seed=SEED):
    """`triples`: of each round ours, nccl-tests' and its second."""
    pairs = [(ours, theirs) for ours, theirs, _ in triples]
    again = [(second, theirs) for _, theirs, second in triples]
    theirs = statistics.median(other for _, other in pairs)
    ratio, difference = spread.ratio_of_medians(pairs), spread.difference_of_medians(pairs)
    low, high = spread.bootstrap(pairs, spread.ratio_of_medians, seed)
    if theirs > LONG_US:
        rule, holds = f"{NEAR_RATIO[0]:.2f}..{NEAR_RATIO[1]:.2f}", NEAR_RATIO[0] <= ratio <= NEAR_RATIO[1]
    else:
        rule, holds = f"+-{NEAR_US} us", abs(difference) <= NEAR_US + 1e-9
    return Judged(what, theirs + difference, theirs, ratio, low, high, spread.ratio_of_medians(again), difference,
                  spread.difference_of_medians(again), rule, holds)


def judge_sweep(rounds, seed=SEED):
    """The sum of all blocks of a run."""
    triples = [tuple(sum(one[name].values()) for name in RUNS) for one in rounds]
    pairs = [(ours, theirs) for ours, theirs, _ in triples]
    found = judge("whole sweep", triples, seed)
    low, high = SWEEP_RATIO
    return Judged(**(asdict(found) | {"rule": f"{low:.2f}..{high:.2f}", "holds": low <= spread.ratio_of_medians(pairs) <= high}))


def judge_rows(rounds, seed=SEED):
    """Each block of each row."""
    names = list(rounds[0][runs.OURS])
    return [judge(" ".join(name.split()[1:]), [tuple(one[run][name] for run in RUNS) for one in rounds], seed)
            for name in names]


HEADINGS = ("bytes", "ours us", "theirs us", "ratio", "95 % interval", "A/A", "diff us", "A/A us", "rule", "")


def table(judged):
    """The lines of a table."""
    rows = [HEADINGS]
    for one in judged:
        rows.append((one.what, f"{one.ours_us:.2f}", f"{one.theirs_us:.2f}", f"{one.ratio:.3f}",
                     f"{one.low:.3f}..{one.high:.3f}", f"{one.again:.3f}", f"{one.difference_us:+.2f}",
                     f"{one.again_difference_us:+.2f}", one.rule, "holds" if one.holds else "MISSED"))
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEADINGS))]
    return ["  ".join(text.rjust(width) for text, width in zip(row, widths)).rstrip() for row in rows]


def load(path, context):
    """The kept rounds. ValueError: they were made with other settings."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    before = json.loads(lines[0])["context"]
    if before != context:
        raise ValueError(f"{path} was made with {before}, now it is {context}: move it away, or measure as before")
    return [json.loads(line) for line in lines[1:]]


def _append(path, entry):
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


def one_round(machine, collective, ranks, number):
    """The times of a round by run. ValueError: a run failed, or its data was wrong."""
    found = {}
    for name in order_of(number):
        done = runs.run(machine, RUNS[name], collective, FLAGS[ranks], ranks)
        if not all_right(done):
            raise ValueError(f"{collective}, {name}: exit status {done.status}, data not right\n{done.text()}")
        found[name] = values_of(done.stdout)
    if not found[runs.OURS] or any(list(values) != list(found[runs.OURS]) for values in found.values()):
        raise ValueError(f"{collective}: the tables have other rows: " + str({k: list(v) for k, v in found.items()}))
    return {name: found[name] for name in RUNS}


def _report(folder, collective, ranks, context, rounds, say):
    """Judges and writes the rounds. Whether all holds."""
    judged = [judge_sweep(rounds)] if ranks > 1 else judge_rows(rounds)
    lines = [f"{collective}, {ranks} rank{'s' * (ranks > 1)}, {FLAGS[ranks]}, {len(rounds)} rounds, NCCL {context['nccl']}",
             *table(judged), f"{sum(one.holds for one in judged)} of {len(judged)} hold"]
    for line in lines:
        say(line)
    stem = Path(folder) / f"time-{ranks}-{collective}"
    stem.with_suffix(".txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    entry = {"context": context, "rounds": len(rounds), "figures": [asdict(one) for one in judged]}
    stem.with_suffix(".json").write_text(json.dumps(entry, indent=1) + "\n", encoding="utf-8")
    return all(one.holds for one in judged)


def measure(machine, collectives, ranks, least, folder, seconds, context, say=print):
    """Measures until each collective has `least` rounds or the seconds are over. Whether all have them, and all hold."""
    deadline, good = time.monotonic() + seconds, True
    for collective in collectives:
        path = Path(folder) / f"time-{ranks}-{collective}.rounds"
        settings = context | {"flags": FLAGS[ranks], "ranks": ranks, "seed": SEED}
        rounds = load(path, settings)
        if not path.exists():
            _append(path, {"context": settings})
        took = 0.0
        while len(rounds) < least and time.monotonic() + took < deadline:
            started = time.monotonic()
            rounds.append(one_round(machine, collective, ranks, len(rounds)))
            _append(path, rounds[-1])
            took = time.monotonic() - started
        if len(rounds) < least:
            say(f"{collective}: {len(rounds)} of {least} rounds; time is over: start again to go on")
            good = False
        elif not _report(folder, collective, ranks, settings, rounds, say):
            good = False
    return good
