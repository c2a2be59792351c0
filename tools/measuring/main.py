# SPDX-License-Identifier: Apache-2.0
"""tools/perf: speed and memory, each figure with its target.

  tools/perf            about a minute
  tools/perf --quick    a few seconds, for a first look
  tools/perf --steps    what the plugin costs a step of Slurm: 100 rounds on an embedded cluster, about five minutes
  tools/perf --launch   what nccl-launch costs a start, and what it leaves in memory: likewise
  tools/perf --bench    nccl-bench's mpi backend to a plain loop of MPI_Allreduce: 30 pairs, likewise, 15 to 25 minutes;
                        --pairs N for another number
  tools/perf --torch    time to PyTorch's first collective, by nccl-launch and by torchrun: about five minutes

Ends with 1 when a ratio misses its target. Milliseconds and bytes depend on the machine and are only shown.
"""
import argparse
import json
import os
import subprocess
import sys

from tools.measuring import bench, figures, launch, steps, torch_start
from tools.testing import stages

TARGETS = ["//tests/perf:read_node_bench", "//tests/perf:paired_process", "//tests/perf:empty_program",
           "//tests/perf:frame_scale", "//cli:nccl-tune"]
# An option of the command line -> what measures, how many rounds, how many with --quick. Each on an embedded cluster.
ON_CLUSTERS = {"steps": (steps.measure, 100, 10), "launch": (launch.measure, 100, 10),
               "bench": (bench.measure, 30, 2), "torch": (torch_start.measure, 20, 2)}
BUSY = 0.5  # of the processors, by the load average of the last minute


def parse(words):
    """The command line."""
    parser = argparse.ArgumentParser(prog="tools/perf", usage=__doc__, add_help=True, allow_abbrev=False)
    parser.add_argument("--quick", action="store_true")
    what = parser.add_mutually_exclusive_group()
    for name in ON_CLUSTERS:
        what.add_argument(f"--{name}", dest="on_cluster", action="store_const", const=name)
    parser.add_argument("--pairs", type=positive)
    options = parser.parse_args(words)
    if options.pairs and options.on_cluster != "bench":
        parser.error("--pairs goes with --bench")
    return options


def positive(text):
    """A number of at least 1. ValueError: it is none."""
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def run_json(command):
    """What a program prints as JSON. ValueError: it failed, or printed something else."""
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if run.returncode:
        raise ValueError(f"{command[0]} ended with {run.returncode}: {run.stderr.strip()}")
    try:
        return json.loads(run.stdout)
    except json.JSONDecodeError as error:
        raise ValueError(f"{command[0]} printed no JSON: {error}") from error


def machine_class():
    """Processors, kernel and load, in a line."""
    load = os.getloadavg()[0]
    cores = os.cpu_count()
    text = f"{cores} processors, Linux {os.uname().release}, load {load:.1f}"
    return text + (": busy, times are not to be trusted" if load > BUSY * cores else "")


def build(options):
    """Whether what is measured could be built."""
    if options.on_cluster and subprocess.run(["tools/build"], check=False).returncode:
        return False
    targets = launch.TARGETS + bench.TARGETS if options.on_cluster else TARGETS
    return stages.bazel(["build", "--show_result=0", "--noshow_progress", "--", *targets]) == 0


def measure_all(options):
    """The figures that are asked for."""
    if options.on_cluster:
        measure_there, rounds, quick = ON_CLUSTERS[options.on_cluster]
        return measure_there(run_json, options.pairs or (quick if options.quick else rounds))
    return measure(0.2, 20) if options.quick else measure(3, 200)


def measure(seconds, pairs):
    """All figures."""
    bench = ["bazel-bin/tests/perf/read_node_bench", "--benchmark_format=json", f"--benchmark_min_time={seconds}"]
    paired = ["bazel-bin/tests/perf/paired_process", str(pairs), "bazel-bin/cli/nccl-tune", "bazel-bin/tests/perf/empty_program"]
    frame = ["bazel-bin/tests/perf/frame_scale", str(max(3, pairs // 10)), "1024", "16384"]
    return figures.from_benchmarks(run_json(bench)) + figures.from_process(run_json(paired)) + figures.from_frame(run_json(frame))


def main(words):
    """Builds, measures, prints; returns the exit status."""
    options = parse(words)
    if not build(options):
        print("tools/perf: the build failed", file=sys.stderr)
        return 2
    before = machine_class()
    try:
        found = measure_all(options)
    except (ValueError, OSError, subprocess.CalledProcessError) as error:
        print(f"tools/perf: {error}", file=sys.stderr)
        return 2
    print("\n".join(figures.table(found)))
    print(f"before: {before}\nafter:  {machine_class()}")
    missed = [figure.name for figure in found if figure.missed]
    for name in missed:
        print(f"missed: {name}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
