# SPDX-License-Identifier: Apache-2.0
"""The Slurm release in a plugin's file, and the dependency made of it."""
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

import slurm_stamp
from changelog import BadInput


def library(source):
    """The bytes of a shared library with this C source."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "x.so"
        subprocess.run(["g++", "-x", "c", "-shared", "-fPIC", "-nostdlib", "-o", out, "-"], input=source.encode(), check=True)
        return out.read_bytes()


class Release(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.good = library("const char a[] = \"x\"; const unsigned plugin_version = (22 << 16) | (5 << 8) | 8;")

    def test_is_read_from_the_file(self):
        self.assertEqual(slurm_stamp.release(self.good), (22, 5))
        self.assertEqual(slurm_stamp.release(library("unsigned plugin_version = (26 << 16) | (11 << 8);")), (26, 11))

    def test_bad_files(self):
        table = (
            (b"", "no 64-bit little-endian ELF file"),
            (b"#!/bin/sh\n" + bytes(100), "no 64-bit little-endian ELF file"),
            (self.good[:4] + b"\1" + self.good[5:], "no 64-bit little-endian ELF file"),
            (self.good[:63], "no 64-bit little-endian ELF file"),
            (self.good[:100], "its table of sections is broken"),
            (self.good[:40] + struct.pack("<Q", 1 << 62) + self.good[48:], "its table of sections is broken"),
            (self.good[:58] + b"\0\0" + self.good[60:], "its table of sections is broken"),
            (library("const unsigned plugin_versions = 1 << 20;"), "it exports no plugin_version"),
            (library("extern const unsigned plugin_version; unsigned f(void) { return plugin_version; }"), "it exports no plugin_version"),
            (library("const unsigned plugin_version = 5;"), "its plugin_version holds no release"),
            (library("unsigned plugin_version;"), "its plugin_version holds no release"),
        )
        for data, message in table:
            with self.subTest(message), self.assertRaisesRegex(BadInput, message):
                slurm_stamp.release(data)

    def test_no_cut_or_changed_file_is_taken_for_another_release(self):
        for at in range(0, len(self.good), 97):
            for data in (self.good[:at], self.good[:at] + b"\xff" * 8 + self.good[at + 8:]):
                try:
                    slurm_stamp.release(data)
                except BadInput:
                    pass


class Depends(unittest.TestCase):
    def test_one_release_and_no_other(self):
        self.assertEqual(slurm_stamp.text((22, 5)), "22.05")
        self.assertEqual(slurm_stamp.depends((22, 5)),
                         "slurm-wlm-basic-plugins (>= 22.05) | slurm-smd (>= 22.05), "
                         "slurm-wlm-basic-plugins (<< 22.06~) | slurm-smd (<< 22.06~)")
        self.assertIn("(<< 24.12~)", slurm_stamp.depends((24, 11)))


if __name__ == "__main__":
    unittest.main()
