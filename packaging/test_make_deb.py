# SPDX-License-Identifier: Apache-2.0
"""Manifests, and one small package made twice under different circumstances."""
import contextlib
import io
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import make_deb
from changelog import BadInput

CLONE = Path(__file__).resolve().parents[1]
MANIFEST = """\
package nccl-tune
file tool usr/bin/nccl-tune
file page usr/share/man/man1/nccl-tune.1
file setting etc/nccl-tune/setting
link usr/bin/other nccl-tune
script prerm tool
"""


class Parse(unittest.TestCase):
    def test_good(self):
        got = make_deb.parse(MANIFEST)
        self.assertEqual(got.package, "nccl-tune")
        self.assertEqual(got.files["usr/bin/nccl-tune"], Path("tool"))
        self.assertEqual(got.links, {"usr/bin/other": "nccl-tune"})
        self.assertEqual(got.scripts, {"prerm": Path("tool")})

    def test_bad(self):
        for line in ("package", "package a b", "package second", "file a", "file a /etc/x", "file a ../x", "file a b c",
                     "link a", "link /a b", "script config a", "script prerm", "folder x", "# no comments"):
            with self.subTest(line), self.assertRaisesRegex(BadInput, f'manifest:2: got "{line}", expected'):
                make_deb.parse("package first\n" + line + "\n")
        with self.assertRaisesRegex(BadInput, "got no line with package"):
            make_deb.parse("\n")


class Make(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def _lay_out(self, name):
        base = Path(self.folder) / name
        for path in ("base/version.h", "CHANGELOG.md", "packaging/control", "packaging/copyright"):
            (base / path).parent.mkdir(parents=True, exist_ok=True)
            (base / path).write_bytes((CLONE / path).read_bytes())
        for path, text in {"tool": "#!/bin/sh\nexit 0\n", "page": ".TH X 1\n", "setting": "x\n", "manifest": MANIFEST}.items():
            (base / path).write_text(text, encoding="utf-8")
        return base

    def _make(self, base, umask):
        command = f"umask {umask} && python3 -B {CLONE}/packaging/make_deb.py manifest out.deb"
        done = subprocess.run(["sh", "-c", command], cwd=base, capture_output=True, text=True, check=False)
        return done, base / "out.deb"

    def test_the_same_inputs_give_the_same_bytes(self):
        one, other = self._lay_out("one"), self._lay_out("a/longer/path")
        for path in other.rglob("*"):
            os.utime(path, (10 ** 9, 10 ** 9))
        (other / "tool").chmod(0o600)
        done, made = self._make(one, "022")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        done, again = self._make(other, "077")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(made.read_bytes(), again.read_bytes())
        listed = subprocess.run(["dpkg-deb", "-c", made], capture_output=True, text=True, check=True).stdout.splitlines()
        for line in listed:
            mode, owner = line.split()[:2]
            self.assertEqual(owner, "root/root", line)
            program = line.endswith("/usr/bin/nccl-tune")
            expected = {"d": "drwxr-xr-x", "l": "lrwxrwxrwx", "-": "-rwxr-xr-x" if program else "-rw-r--r--"}[mode[0]]
            self.assertEqual(mode, expected, line)
        fields = subprocess.run(["dpkg-deb", "-f", made, "Package", "Version"], capture_output=True, text=True, check=True).stdout
        self.assertRegex(fields, r"^Package: nccl-tune\nVersion: [0-9.]+\n$")
        conffiles = subprocess.run(["dpkg-deb", "-I", made, "conffiles"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(conffiles, "/etc/nccl-tune/setting\n")

    def test_what_fails_says_so_and_leaves_no_package(self):
        base = self._lay_out("one")
        for path, text, message in (
                ("manifest", "package nccl-tune\nfile absent usr/x\n", "No such file or directory: 'absent'"),
                ("manifest", "package unknown\n", "dpkg-gencontrol: ended with"),
                ("manifest", "package nccl-tune\nfile tool usr/lib/spank_nccl_tune.so\n", "tool: no 64-bit little-endian ELF file"),
                ("manifest", "file\n", 'manifest:1: got "file", expected'),
                ("CHANGELOG.md", "## 9.9 (unreleased)\n", 'got "9.9" as the newest version')):
            (base / path).write_text(text, encoding="utf-8")
            done, made = self._make(base, "022")
            self.assertEqual(done.returncode, 1)
            self.assertIn("make_deb: manifest: ", done.stderr)
            self.assertIn(message, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertFalse(made.exists())
            if path == "manifest":
                (base / path).write_text(MANIFEST, encoding="utf-8")

    def test_usage(self):
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(make_deb.main([]), 2)
        self.assertIn("make_deb.py MANIFEST OUT", said.getvalue())


if __name__ == "__main__":
    unittest.main()
