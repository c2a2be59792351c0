# SPDX-License-Identifier: Apache-2.0
"""What --adaptive costs beside nccl-tests with as many iterations as it needs to be as sure.

Both programs are run REPEATS times. How sure a program is, is how far the times that it reports scatter over these runs:
of each block half the distance between the quartiles in parts of the median, and of these the median over all blocks.

Neither program prints how long its measuring loops take, so they are counted from what it does print, data check, warm-up
and start left out on both sides: of ours, the sum over all blocks of the calls it made (nccl_bench.spread in its JSON)
times the time of a call; of nccl-tests, the sum of -n times the time column.

nccl-tests is run with -n of COUNTS, from the least on until its spread is no more than ours. The -n at which both would be
the same lies between the last two: it is taken on the straight line between them, both axes logarithmic. Where the
largest -n does not reach it, that one is taken, which is to nccl-tests' favour.
"""
import json
import math
import statistics
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from comparing import flag_sets, runs, spread, timing

REPEATS = 9
COUNTS = (20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10240)
FLAGS = "-b 8 -e 256M -f 8 -w 1 -c 1"
MOST = 0.5  # of nccl-tests' time


@dataclass(frozen=True)
class Loop:
    """The measuring loops of one way to run: -n (0: --adaptive), seconds (median over the runs) and spread."""

    count: int
    seconds: float
    spread: float


def our_blocks(report):
    """Of each block the reported time (us) and the calls, by its place. ValueError: the report has none."""
    out = {}
    try:
        for number, (row, found) in enumerate(zip(report["results"], report["nccl_bench"]["spread"], strict=True)):
            for place in ("out_of_place", "in_place"):
                out[f"{number} {row['size']} {place}"] = (row[place]["time"], found[place]["samples"])
    except (KeyError, TypeError) as error:
        raise ValueError(f"the report has no {error}") from error
    return out


def loop_of(count, blocks_of_runs):
    """`blocks_of_runs`: of each run, by block, the reported time (us) and the calls."""
    seconds = statistics.median(sum(us * calls for us, calls in blocks.values()) / 1e6 for blocks in blocks_of_runs)
    spreads = [spread.relative_spread([blocks[name][0] for blocks in blocks_of_runs]) for name in blocks_of_runs[0]]
    return Loop(count, seconds, statistics.median(spreads))


def matching(loops, wanted):
    """(-n, seconds, reached) of nccl-tests where its spread is `wanted`; `loops` from the least -n on."""
    before = None
    for loop in loops:
        if loop.spread <= wanted:
            if before is None or loop.spread <= 0 or wanted <= 0:
                return loop.count, loop.seconds, True
            part = math.log(before.spread / wanted) / math.log(before.spread / loop.spread)
            count, seconds = (math.exp(math.log(a) + part * math.log(b / a))
                              for a, b in ((before.count, loop.count), (before.seconds, loop.seconds)))
            return round(count), seconds, True
        before = loop
    return loops[-1].count, loops[-1].seconds, False


def _adaptive_runs(machine, collective):
    for _ in range(REPEATS):
        flags = f"{FLAGS} --adaptive -J {flag_sets.REPORT_FILE}"
        done = runs.run(machine, runs.OURS, collective, flags, report=flag_sets.REPORT_FILE)
        if not timing.all_right(done):
            raise ValueError(f"{collective}, --adaptive: exit status {done.status}\n{done.text()}")
        yield our_blocks(json.loads(done.report))


def _fixed_runs(machine, collective, count):
    for _ in range(REPEATS):
        done = runs.run(machine, runs.THEIRS, collective, f"{FLAGS} -n {count}")
        if not timing.all_right(done):
            raise ValueError(f"{collective}, -n {count}: exit status {done.status}\n{done.text()}")
        yield {name: (us, count) for name, us in timing.values_of(done.stdout).items()}


def _load(path, context):
    if not path.exists():
        return {"context": context, "loops": []}
    found = json.loads(path.read_text(encoding="utf-8"))
    if found["context"] != context:
        raise ValueError(f"{path} was made with {found['context']}, now it is {context}: move it away")
    return found


def _report(folder, collective, ours, theirs, say):
    count, seconds, reached = matching(theirs, ours.spread)
    ratio = ours.seconds / seconds
    lines = [f"{collective}: {FLAGS}, {REPEATS} runs each", "     -n  loops s  spread %"]
    for loop in (ours, *theirs):
        lines.append(f"{loop.count or 'adaptive':>8}  {loop.seconds:7.3f}  {100 * loop.spread:8.3f}")
    lines.append(f"as sure at -n {count}{'' if reached else ' at least'}: {seconds:.3f} s; --adaptive takes {ratio:.2f} of it, "
                 f"at most {MOST}: {'holds' if ratio <= MOST else 'MISSED'}")
    for line in lines:
        say(line)
    (Path(folder) / f"adaptive-{collective}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return ratio <= MOST


def measure(machine, collectives, folder, seconds, context, say=print):
    """Measures, or goes on, until the seconds are over. Whether all is measured, and all holds."""
    deadline, good = time.monotonic() + seconds, True
    for collective in collectives:
        path = Path(folder) / f"adaptive-{collective}.json"
        state = _load(path, context | {"flags": FLAGS, "repeats": REPEATS})
        for count in (0, *COUNTS):
            loops = [Loop(**one) for one in state["loops"]]
            if any(loop.count == count for loop in loops):
                continue
            if len(loops) > 1 and loops[-1].spread <= loops[0].spread:
                break
            if time.monotonic() >= deadline:
                say(f"{collective}: not all measured; time is over: start again to go on")
                return False
            found = _adaptive_runs(machine, collective) if count == 0 else _fixed_runs(machine, collective, count)
            state["loops"].append(asdict(loop_of(count, list(found))))
            path.write_text(json.dumps(state, indent=1) + "\n", encoding="utf-8")
        loops = [Loop(**one) for one in state["loops"]]
        good = _report(folder, collective, loops[0], loops[1:], say) and good
    return good
