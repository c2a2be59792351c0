# SPDX-License-Identifier: Apache-2.0
"""Where a cluster finds the product: as built, all in one folder, or installed in a root."""

import sys
import tempfile
import unittest
from pathlib import Path

CLONE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(CLONE / "tools"))

from embedded_cluster import slurm_conf, slurm_root  # noqa: E402

BUILT = ("cli/nccl-tune", "launcher/nccl-launch", "bench/nccl-bench", "bench/libnccl_bench_mpi.so", "spank/spank_nccl_tune.so",
         "envplugin/libnccl-env-nccl-tune.so")
INSTALLED = ("usr/bin/nccl-tune", "usr/bin/nccl-launch", "usr/lib/nccl-bench/nccl-bench",
             "usr/lib/nccl-bench/libnccl_bench_mpi.so", "usr/lib/nccl-tune/spank_nccl_tune.so",
             "usr/lib/nccl-tune/libnccl-env-nccl-tune.so")


class State:
    """What install_product needs of a cluster's state folder."""

    def __init__(self, folder):
        self.bin, self.conf = folder / "bin", folder / "conf"
        (self.conf / "plugstack.conf.d").mkdir(parents=True)


class Product(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name) / "product"
        self.state = State(Path(folder.name) / "state")

    def lay_out(self, *paths):
        for path in paths:
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / path).write_text(Path(path).name, encoding="utf-8")

    def install(self):
        missing = slurm_conf.install_product(self.state, self.folder, slurm_root.SlurmRoot())
        for path in self.state.bin.iterdir():
            self.assertEqual((path.name, path.stat().st_mode & 0o777), (path.read_text(encoding="utf-8"), 0o755))
        return missing, sorted(path.name for path in self.state.bin.iterdir())

    def drop_in(self):
        return (self.state.conf / "plugstack.conf.d" / "nccl_tune.conf").read_text(encoding="utf-8").splitlines()

    def test_every_layout(self):
        names = sorted(Path(path).name for path in BUILT)
        for layout in (BUILT, names, INSTALLED):
            with self.subTest(layout):
                self.setUp()
                self.lay_out(*layout)
                self.assertEqual(self.install(), ([], names))
                self.assertEqual(self.drop_in()[-1], "optional /run/cluster/bin/spank_nccl_tune.so")

    def test_programs_that_stand_ahead_of_the_machines(self):
        self.lay_out(*BUILT, "instead/srun", "instead/library.so", "instead/folder/x")
        missing, names = self.install()
        self.assertEqual((missing, names), ([], sorted([*(Path(path).name for path in BUILT), "library.so", "srun"])))

    def test_the_drop_in_of_a_root_is_taken_with_its_arguments(self):
        self.lay_out(*INSTALLED)
        target = self.folder / "etc/slurm/plugstack.conf.d/zz-nccl_tune.conf"
        target.parent.mkdir(parents=True)
        target.write_text("# ours\noptional /usr/lib/nccl-tune/spank_nccl_tune.so default=auto\n", encoding="utf-8")
        self.install()
        self.assertEqual(self.drop_in(), ["# ours", "optional /run/cluster/bin/spank_nccl_tune.so default=auto"])

    def test_what_is_not_there_is_named(self):
        self.lay_out("usr/lib/nccl-tune/other.so", "usr/lib/nccl-bench/libnccl_bench_mpi.so", "usr/sbin/nccl-tune", "bin/nccl-bench")
        missing, found = self.install()
        self.assertEqual(missing, list(slurm_conf.PRODUCT))
        self.assertEqual(found, ["libnccl_bench_mpi.so"])
        self.assertFalse((self.state.conf / "plugstack.conf.d" / "nccl_tune.conf").exists())


if __name__ == "__main__":
    unittest.main()
