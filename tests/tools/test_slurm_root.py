# SPDX-License-Identifier: Apache-2.0
"""The root that a cluster takes its Slurm from: what counts as one, which Slurm it has, which plugin goes with that."""

import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

CLONE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(CLONE / "tools"))

from embedded_cluster import slurm_conf, slurm_root  # noqa: E402
from embedded_cluster.errors import BAD_INPUT, NOT_POSSIBLE, ClusterError  # noqa: E402
from embedded_cluster.slurm_root import SlurmRoot, select  # noqa: E402
from embedded_cluster.state import State  # noqa: E402

OTHER = "Package: slurmctld\nStatus: install ok installed\nVersion: 1.2.3-4\n\n"


class WithRoot(unittest.TestCase):
    """A folder that looks like a Debian root."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.root = self.folder / "root"
        for name in slurm_root.NEEDED:
            (self.root / name).mkdir(parents=True)
        patch = mock.patch.dict(os.environ, {"NCCL_TUNE_CLUSTER_DIR": str(self.folder)})
        patch.start()
        self.addCleanup(patch.stop)
        os.environ.pop(slurm_root.VARIABLE, None)

    def installed(self, text):
        """Writes the list of installed packages."""
        path = self.root / slurm_root.STATUS
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def slurmd(self, version):
        """As if slurmd of that version were installed."""
        self.installed(f"{OTHER}Package: slurmd\nStatus: install ok installed\nVersion: {version}\nDepends: x\n\n")


class Select(WithRoot):
    """--slurm-root and the variable."""

    def test_the_option_wins_over_the_variable_over_the_machine(self):
        self.assertTrue(select(None).is_host)
        with mock.patch.dict(os.environ, {slurm_root.VARIABLE: str(self.root)}):
            self.assertEqual(select(None).path, self.root)
            self.assertTrue(select("/").is_host)
        self.assertEqual(select(str(self.root)).path, self.root)

    def test_what_is_no_root(self):
        (self.root / "etc" / "hosts").rmdir()
        for option, message in (("", '--slurm-root: got "", expected an absolute path'),
                                ("root", '--slurm-root: got "root", expected an absolute path'),
                                ("/proc/nonexistent", "a Debian root, which has dev, etc/group"),
                                ("/etc/passwd", "a Debian root, which has dev, etc/group"),
                                (str(self.root), "a Debian root, which has etc/hosts; python3 -m tools.testing.roots")):
            with self.subTest(option), self.assertRaises(ClusterError) as raised:
                select(option)
            self.assertIn(message, str(raised.exception))
            self.assertEqual(raised.exception.status, BAD_INPUT)
        with mock.patch.dict(os.environ, {slurm_root.VARIABLE: "x"}), self.assertRaises(ClusterError) as raised:
            select(None)
        self.assertIn('NCCL_TUNE_SLURM_ROOT: got "x"', str(raised.exception))


class Version(WithRoot):
    """Which Slurm is in it."""

    def test_versions(self):
        for text, version, release in (("24.11.5-4", "24.11.5", "24.11"), ("26.05.5-1+b1", "26.05.5", "26.05"),
                                       ("1:25.05.0~rc1-2", "25.05.0", "25.05")):
            self.slurmd(text)
            self.assertEqual((SlurmRoot(self.root).slurm_version(), SlurmRoot(self.root).release), (version, release))

    def test_no_slurmd(self):
        def check():
            with self.assertRaises(ClusterError) as raised:
                SlurmRoot(self.root).slurm_version()
            self.assertIn("expected a Debian root in which slurmd is installed", str(raised.exception))
        check()
        for text in ("", OTHER, "Package: slurmd-extra\nVersion: 24.11.5-4\n\n", "Package: slurmd\nVersion: x\n\n",
                     "\xff"):
            self.installed(text)
            check()

    def test_cgroups_are_off_in_the_words_of_the_release(self):
        for version, line in (("22.05.8", "cgroup/v1"), ("23.02.1", "disabled"), ("24.11.5", "disabled"),
                              ("26.05.5", "disabled")):
            self.assertEqual(slurm_conf.cgroup_conf(version), f"CgroupPlugin={line}\n")


class Programs(WithRoot):
    """What must be installed."""

    def test_missing_programs(self):
        with mock.patch.object(slurm_root, "PATH", "/proc/nonexistent"), self.assertRaises(ClusterError) as raised:
            SlurmRoot().check_programs()
        self.assertEqual(raised.exception.status, NOT_POSSIBLE)
        self.assertIn("got no slurmctld, slurmd, sinfo, srun, munged, ip in /proc/nonexistent,", str(raised.exception))
        self.assertIn("apt-get install --no-install-recommends slurmctld slurmd slurm-client munge iproute2",
                      str(raised.exception))

    def test_programs_of_a_root_may_be_links_within_it(self):
        (self.root / "usr" / "sbin").mkdir(parents=True)
        for name in ("slurmctld", "slurmd", "sinfo", "srun", "munged"):
            (self.root / "usr" / "sbin" / name).symlink_to(f"/etc/alternatives/{name}")
        with self.assertRaises(ClusterError) as raised:
            SlurmRoot(self.root).check_programs()
        self.assertIn(f"got no ip in {slurm_root.PATH} below {self.root}, expected", str(raised.exception))
        (self.root / "usr" / "sbin" / "ip").touch()
        SlurmRoot(self.root).check_programs()


class Product(WithRoot):
    """Which plugin goes into the cluster."""

    def install(self, root):
        """What is missing, and the plugin's text in the cluster."""
        state = State("one")
        (state.conf / "plugstack.conf.d").mkdir(parents=True)
        missing = slurm_conf.install_product(state, self.folder / "build", root)
        plugin = state.bin / slurm_conf.PLUGIN
        text = plugin.read_text() if plugin.exists() else None
        drop_in = (state.conf / "plugstack.conf.d" / "nccl_tune.conf").exists()
        self.assertEqual(drop_in, text is not None)
        for path in (state.bin, state.conf / "plugstack.conf.d"):
            for file in path.iterdir():
                file.unlink()
            path.rmdir()
        return "spank/spank_nccl_tune.so" in missing, text

    def test_the_plugin_of_the_roots_release(self):
        build = self.folder / "build" / "spank"
        build.mkdir(parents=True)
        self.slurmd("24.11.5-4")
        (build / "spank_nccl_tune.so").write_text("host's")
        self.assertEqual(self.install(SlurmRoot()), (False, "host's"))
        self.assertEqual(self.install(SlurmRoot(self.root)), (True, None))
        (build / "spank_nccl_tune_26.05.so").write_text("26.05")
        self.assertEqual(self.install(SlurmRoot(self.root)), (True, None))
        (build / "spank_nccl_tune_24.11.so").write_text("24.11")
        self.assertEqual(self.install(SlurmRoot(self.root)), (False, "24.11"))
        (build / "spank_nccl_tune_24.11.so").rename(self.folder / "build" / "spank_nccl_tune_24.11.so")
        self.assertEqual(self.install(SlurmRoot(self.root)), (False, "24.11"))


if __name__ == "__main__":
    unittest.main()
