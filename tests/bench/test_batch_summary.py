# SPDX-License-Identifier: Apache-2.0
"""The line that the batch scripts (etc/sbatch) make of a run's log: best busbw, wrong values, exit status."""

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

CLONE = Path(__file__).resolve().parents[2]
SCRIPTS = [path for path in sorted((CLONE / "etc/sbatch").glob("*.sbatch")) if path.name != "train_lm.sbatch"]
SAMPLES = CLONE / "tests/bench/samples"
KEPT = CLONE / "tests/gpu/logs/compare"


def summary_of(script):
    """The function of a script."""
    return re.search(r"^summary\(\) \{\n.*?^\}\n", script.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)[0]


def printed(log, status=0):
    """What all scripts print of a log."""
    with tempfile.TemporaryDirectory() as folder:
        name = Path(folder) / "alltoallv-2"
        Path(f"{name}.log").write_text(log, encoding="utf-8")
        run = subprocess.run(["bash", "-ufc", f'name=$1\nnodes=3\n{summary_of(SCRIPTS[0])}summary "$2"', "sh", name, str(status)],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True, timeout=20)
    return run.stdout


def summary(log, status=0):
    """That, as (other lines, best, wrong, status)."""
    text = printed(log, status)
    *others, line = text.splitlines()
    found = re.fullmatch(r"alltoallv-2 +3 nodes  best busbw +(\S+) GB/s  wrong (.{9}) exit (\d+)", line)
    if not found:
        raise ValueError(text)
    return others, found[1], found[2].strip(), int(found[3])


def stdout_of(name):
    """stdout of a run of nccl-bench that was kept on a GPU machine."""
    text = (KEPT / f"{name}.ours").read_text(encoding="utf-8")
    return re.search(r"^stdout: \d+ characters\n(.*)\nstderr: ", text, re.DOTALL | re.MULTILINE)[1]


# Bytes sent by each of two ranks, then two rows whose in-place time has no point.
LISTED = """\
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong 
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)         
       98304             0     float    none      -1# NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY: mode=matrix nranks=2 matrix_dim=2 scale=0.500 time_usec=1
#   rank=0 send_bytes=98304 recv_bytes=49152 alg_bw=70.00 bus_bw=80.00
  123457    0.01    1.25       0# NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY: mode=matrix nranks=2 matrix_dim=2 scale=0.500 time_usec=123457.00
#   rank=0 send_bytes=98304 recv_bytes=49152 alg_bw=70.00 bus_bw=80.00
  123458    0.01    1.75    N/A
# Out of bounds values : 0 OK
"""


class Summary(unittest.TestCase):
    def test_all_scripts_have_the_same(self):
        self.assertEqual(len(SCRIPTS), 4)
        for script in SCRIPTS:
            self.assertEqual(summary_of(script), summary_of(SCRIPTS[0]), script.name)

    def test_samples(self):
        for name in ("all_reduce", "alltoall", "cpu_time", "host_memory", "hypercube", "iterations", "other_types",
                     "timestamps", "unchecked"):
            text = (SAMPLES / f"{name}.txt").read_text(encoding="utf-8")
            self.assertEqual(summary(text), ([], "135.47", "0 OK", 0), name)
        self.assertEqual(summary((SAMPLES / "wrong.txt").read_text(encoding="utf-8"), 7)[2:], ("3 FAILED", 7))

    def test_alltoallv_with_its_list_of_what_ranks_send(self):
        self.assertEqual(summary(LISTED), ([], "1.75", "0 OK", 0))
        self.assertEqual(summary(LISTED.replace("N/A", "N/A# NCCL_TESTS")), ([], "-", "0 OK", 0), "a row that never ends")

    def test_kept_runs(self):
        for name, best in (("alltoallv-summary-2", "0.01"), ("alltoallv-summary", "0"), ("alltoallv-matrix-scale-2", "0"),
                           ("alltoallv-matrix-scale", "0"), ("stamps", "0"), ("per-iteration-stamps", "0"),
                           ("all_gather-2", "0.02")):
            self.assertEqual(summary(stdout_of(name)), ([], best, "0 OK", 0), name)

    def test_lines_of_stderr_between_rows(self):
        said = "nccl-bench: doubtful: 8 16 32\nsrun: error: server2: task 1: Killed\nnccl-bench: backend mpi: no GPU\n"
        for place in ("  123457 ", "  123458 ", "# Out of"):
            others, *rest = summary(LISTED.replace(place, said + place), 7)
            self.assertEqual(rest, ["1.75", "0 OK", 7], place)
            self.assertEqual(others, ["    nccl-bench: doubtful: 8 16 32", "    srun: error: server2: task 1: Killed"])

    def test_a_search_says_what_it_has_found(self):
        log = ("# nccl-bench 0.1.0 backend mpi\n#\n# pairs over 3 nodes by sendrecv, in 3 rounds\n"
               "# slow node: server3: 0.8 GB/s\n#\n# Search concluded: pairs: 1 slow node, 0 slow links\n")
        self.assertEqual(printed(log, 7), "alltoallv-2                      3 nodes  pairs: 1 slow node, 0 slow links  exit 7\n")

    def test_a_script_without_a_job_says_how_to_start_it(self):
        for script in SCRIPTS:
            run = subprocess.run(["bash", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                                 timeout=20, env={"PATH": os.environ["PATH"]})
            self.assertEqual((run.returncode, run.stdout), (1, ""), script.name)
            self.assertIn(f"Start it with: sbatch {script}\n", run.stderr)

    def test_nothing_measured(self):
        for text in ("", "# Out of bounds values : 0 OK\n", "       64   16   float     sum      -1",
                     "\n".join(LISTED.splitlines()[:3]), "1 2 3 4 5 6 7 8 9 10 11 12 13 14\n"):
            self.assertEqual(summary(text, 1)[1], "-", text)


if __name__ == "__main__":
    unittest.main()
