# SPDX-License-Identifier: Apache-2.0
"""Captures: what the format allows, and above all what it refuses and with which words."""

import sys
import tempfile
import unittest
from pathlib import Path

CLONE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(CLONE / "tools"))

from embedded_cluster import capture  # noqa: E402
from embedded_cluster.errors import BAD_INPUT, ClusterError  # noqa: E402

HEAD = "nccl-tune-capture 1\n"

GOOD = [  # text after the first line, path, kind, value
    ("in sys/a\nb = 1: CA\n", "sys/a/b", capture.FILE, "1: CA\n"),
    ("b =\n", "b", capture.FILE, "\n"),
    ("b = \n", "b", capture.FILE, "\n"),
    ("b =  two\n", "b", capture.FILE, " two\n"),
    ("b <<\n| one\n|\n| | two\n", "b", capture.FILE, "one\n\n| two\n"),
    ("b <<\n", "b", capture.FILE, ""),
    ("in sys/x/y\nl -> ../..\n", "sys/x/y/l", capture.LINK, "../.."),
    ("in sys\nin .\nb ! ENODATA\n", "b", capture.UNREADABLE, "ENODATA"),
    ("in dev\nu * -\n", "dev/u", capture.DEVICE, "-"),
    ("in dev\nu * rw", "dev/u", capture.DEVICE, "rw"),
    ("# b = 2\n\nb /\n", "b", capture.FOLDER, ""),
    ("b /\nb/c = 1\n", "b", capture.FOLDER, ""),
]

LONG = "a" * 1001
BAD = [  # whole text, message after the name
    ("", '1: first line: got "", expected "nccl-tune-capture 1"'),
    ("nccl-tune-capture 2\n", '1: first line: got "nccl-tune-capture 2", expected "nccl-tune-capture 1"'),
    (" nccl-tune-capture 1\n", '1: first line: got " nccl-tune-capture 1", expected "nccl-tune-capture 1"'),
    (HEAD + "a = 1\r\n", '2: control character: got "\\x0d", expected text without any'),
    (HEAD + "a = 1\t2\n", '2: control character: got "\\x09", expected text without any'),
    (HEAD + "a <<\n| b\x1bc\n", '3: control character: got "\\x1b", expected text without any'),
    (HEAD + "a = \x85\n", '2: control character: got "\\x85", expected text without any'),
    (HEAD + ": color red\n", '2: label: got "color", expected one of name, node-addr, source'),
    (HEAD + ": name\n", '2: label name: got "", expected a text'),
    (HEAD + ": name a\n: name b\n", '3: label: got "name", expected each label once'),
    (HEAD + "in \n", '2: path: got "", expected one without blanks, empty parts, "." and ".."'),
    (HEAD + "in /sys\n", '2: path: got "/sys", expected one without blanks, empty parts, "." and ".."'),
    (HEAD + "in sys/\n", '2: path: got "sys/", expected one without blanks, empty parts, "." and ".."'),
    (HEAD + "in a b\n", '2: path: got "a b", expected one without blanks, empty parts, "." and ".."'),
    (HEAD + "../a = 1\n", '2: path: got "../a", expected one without blanks, empty parts, "." and ".."'),
    (HEAD + "a/./b = 1\n", '2: path: got "a/./b", expected one without blanks, empty parts, "." and ".."'),
    (HEAD + "a//b = 1\n", '2: path: got "a//b", expected one without blanks, empty parts, "." and ".."'),
    (HEAD + " a = 1\n", '2: path: got "", expected one without blanks, empty parts, "." and ".."'),
    (HEAD + f"in sys\n{LONG} = 1\n", '3: length of the path: got "1005", expected at most 1000 bytes'),
    (HEAD + f"a = {'x' * 65536}\n", '2: length of the value: got "65537", expected at most 65536 bytes'),
    (HEAD + "a\n", '2: after a: got "", expected "= VALUE", "<<", "-> TARGET", "! ERRNO", "* rw", "* -" or "/"'),
    (HEAD + "a 1\n", '2: after a: got "1", expected "= VALUE", "<<", "-> TARGET", "! ERRNO", "* rw", "* -" or "/"'),
    (HEAD + "a=1\n", '2: after a=1: got "", expected "= VALUE", "<<", "-> TARGET", "! ERRNO", "* rw", "* -" or "/"'),
    (HEAD + "a << x\n",
     '2: after a: got "<< x", expected "= VALUE", "<<", "-> TARGET", "! ERRNO", "* rw", "* -" or "/"'),
    (HEAD + "| text\n", '2: text line: got "| text", expected a line "PATH <<" before it'),
    (HEAD + "a <<\n| b\n# c\n| d\n", '5: text line: got "| d", expected a line "PATH <<" before it'),
    (HEAD + "a ! EPERM\n", '2: errno: got "EPERM", expected one of EINVAL, EACCES, EIO, ENODATA'),
    (HEAD + "a ! \n", '2: errno: got "", expected one of EINVAL, EACCES, EIO, ENODATA'),
    (HEAD + "a * r\n", '2: device: got "r", expected "rw" or "-"'),
    (HEAD + "a -> \n", '2: target of the link: got "", expected a relative one that stays below the root'),
    (HEAD + "a -> /etc\n", '2: target of the link: got "/etc", expected a relative one that stays below the root'),
    (HEAD + "a -> ..\n", '2: target of the link: got "..", expected a relative one that stays below the root'),
    (HEAD + "in s\na -> ../../s\n",
     '3: target of the link: got "../../s", expected a relative one that stays below the root'),
    (HEAD + "a = 1\na = 1\n", '3: path: got "a", expected each once; it stands in line 2 already'),
    (HEAD + "a = 1\na/b = 1\n", '3: path: got "a/b", expected nothing below a; line 2 makes that a file'),
    (HEAD + "a -> b\na/b/c = 1\n", '3: path: got "a/b/c", expected nothing below a; line 2 makes that a link'),
    (HEAD + "a/b/c = 1\na = 1\n", '3: path: got "a", expected no file there; line 2 makes it a folder'),
]


class Parse(unittest.TestCase):
    def test_good(self):
        for text, path, kind, value in GOOD:
            with self.subTest(text):
                entry = capture.parse((HEAD + text).encode(), "x").entries[path]
                self.assertEqual((entry.kind, entry.value), (kind, value))

    def test_bad(self):
        for text, message in BAD:
            with self.subTest(text[:60]), self.assertRaises(ClusterError) as raised:
                capture.parse(text.encode(), "x")
            self.assertEqual(str(raised.exception), "x:" + message)
            self.assertEqual(raised.exception.status, BAD_INPUT)

    def test_not_utf8(self):
        with self.assertRaises(ClusterError) as raised:
            capture.parse(HEAD.encode() + b"a = 1\nb = \xff\n", "x")
        self.assertEqual(str(raised.exception), 'x:3: text: got "\\xff", expected UTF-8')

    def test_too_large(self):
        with self.assertRaises(ClusterError) as raised:
            capture.parse(HEAD.encode() + b"#" * (8 << 20), "x")
        self.assertIn("size of the file", str(raised.exception))

    def test_labels(self):
        got = capture.parse((HEAD + ": name server 1\n: node-addr 10.0.0.1\n").encode(), "x")
        self.assertEqual(got.labels, {"name": "server 1", "node-addr": "10.0.0.1"})

    def test_no_such_file(self):
        with self.assertRaises(ClusterError) as raised:
            capture.read(Path("/proc/nonexistent/x.capture"))
        self.assertIn("No such file", str(raised.exception))


class LayOut(unittest.TestCase):
    def test_what_a_disk_can_hold(self):
        text = HEAD + "a/f <<\n| 1\n| 2\na/l -> f\na/e ! EIO\nd * rw\ng /\nskipped = 1\n"
        entries = capture.parse(text.encode(), "x").entries
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            capture.lay_out(entries, root, lambda path: path == "skipped")
            self.assertEqual(sorted(str(p.relative_to(root)) for p in root.rglob("*")), ["a", "a/f", "a/l", "g"])
            self.assertEqual((root / "a/l").read_text(), "1\n2\n")


if __name__ == "__main__":
    unittest.main()
