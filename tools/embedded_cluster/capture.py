# SPDX-License-Identifier: Apache-2.0
"""Captures of machines: parses one (format in docs/formats.md) and lays its files out below a folder."""

import os
import posixpath
import re
from dataclasses import dataclass, field
from pathlib import Path

from .errors import BAD_INPUT, ClusterError, bad_input

FIRST_LINE = "nccl-tune-capture 1"
LABELS = ("name", "node-addr", "source")
ERRNOS = ("EINVAL", "EACCES", "EIO", "ENODATA")
MAX_FILE = 8 << 20
MAX_VALUE = 64 << 10
MAX_PATH = 1000
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")

# Kinds of entries.
FILE, LINK, UNREADABLE, DEVICE, FOLDER = "file", "link", "unreadable", "device", "folder"


@dataclass
class Entry:
    """What stands at one path: the text of a file, the target of a link, an errno, `rw` or `-` of a device."""

    kind: str
    value: str
    line: int


@dataclass
class Capture:
    """A machine: its labels and what stands at each path, in the order of the file."""

    where: str
    labels: dict[str, str] = field(default_factory=dict)
    entries: dict[str, Entry] = field(default_factory=dict)

    def text(self, path: str) -> str | None:
        """The text of the file at `path`, or None when there is no such file."""
        entry = self.entries.get(path)
        return entry.value if entry and entry.kind == FILE else None


class _Parser:
    def __init__(self, text: str, where: str):
        self.lines = text.split("\n")
        if self.lines[-1] == "":
            self.lines.pop()
        self.capture = Capture(where)
        self.at = 0
        self.folder = ""
        self.parents: dict[str, int] = {}

    def fail(self, what: str, got: str, expected: str) -> ClusterError:
        return bad_input(f"{self.capture.where}:{self.at}: {what}", got, expected)

    def parse(self) -> Capture:
        self.at = 1
        first = self.lines[0] if self.lines else ""
        if first != FIRST_LINE:
            raise self.fail("first line", first[:80], f'"{FIRST_LINE}"')
        while self.at < len(self.lines):
            self.at += 1
            self.one_line(self.lines[self.at - 1])
        return self.capture

    def one_line(self, line: str) -> None:
        bad = CONTROL.search(line)
        if bad:
            raise self.fail("control character", f"\\x{ord(bad.group()):02x}", "text without any")
        if line == "" or line.startswith("#"):
            return
        if line.startswith(": "):
            self.label(line[2:])
        elif line.startswith("in "):
            self.folder = "" if line == "in ." else self.checked_path(line[3:]) + "/"
        elif line == "|" or line.startswith("| "):
            raise self.fail("text line", line[:80], 'a line "PATH <<" before it')
        else:
            self.entry(line)

    def label(self, rest: str) -> None:
        key, _, text = rest.partition(" ")
        if key not in LABELS:
            raise self.fail("label", key, "one of " + ", ".join(LABELS))
        if text.strip() == "":
            raise self.fail(f"label {key}", text, "a text")
        if key in self.capture.labels:
            raise self.fail("label", key, "each label once")
        self.capture.labels[key] = text

    def checked_path(self, path: str) -> str:
        parts = path.split("/")
        if any(part in ("", ".", "..") for part in parts) or " " in path:
            raise self.fail("path", path[:80], 'one without blanks, empty parts, "." and ".."')
        return path

    def entry(self, line: str) -> None:
        path, _, rest = line.partition(" ")
        path = self.folder + self.checked_path(path)
        if len(path.encode()) > MAX_PATH:
            raise self.fail("length of the path", str(len(path.encode())), f"at most {MAX_PATH} bytes")
        start = self.at
        kind, value = self.kind_and_value(path, rest)
        if len(value.encode()) > MAX_VALUE:
            raise self.fail("length of the value", str(len(value.encode())), f"at most {MAX_VALUE} bytes")
        self.claim(path, kind, start)
        self.capture.entries[path] = Entry(kind, value, start)

    def kind_and_value(self, path: str, rest: str) -> tuple[str, str]:
        sign, blank, value = rest.partition(" ")
        if rest in ("=", "= "):
            return FILE, "\n"
        if sign == "=" and blank:
            return FILE, value + "\n"
        if rest == "<<":
            return FILE, self.block()
        if sign == "->":
            return LINK, self.checked_target(path, value)
        if sign == "!":
            if value not in ERRNOS:
                raise self.fail("errno", value, "one of " + ", ".join(ERRNOS))
            return UNREADABLE, value
        if sign == "*":
            if value not in ("rw", "-"):
                raise self.fail("device", value, '"rw" or "-"')
            return DEVICE, value
        if rest == "/":
            return FOLDER, ""
        raise self.fail(f"after {path}", rest[:80], '"= VALUE", "<<", "-> TARGET", "! ERRNO", "* rw", "* -" or "/"')

    def block(self) -> str:
        texts = []
        while self.at < len(self.lines) and re.match(r"\|( |$)", self.lines[self.at]):
            self.at += 1
            text = self.lines[self.at - 1][2:]
            bad = CONTROL.search(text)
            if bad:
                raise self.fail("control character", f"\\x{ord(bad.group()):02x}", "text without any")
            texts.append(text + "\n")
        return "".join(texts)

    def checked_target(self, path: str, target: str) -> str:
        expected = "a relative one that stays below the root"
        if target == "" or " " in target or target.startswith("/"):
            raise self.fail("target of the link", target[:80], expected)
        depth = path.count("/")
        for part in target.split("/"):
            depth += -1 if part == ".." else 0 if part in ("", ".") else 1
            if depth < 0:
                raise self.fail("target of the link", target[:80], expected)
        return target

    def claim(self, path: str, kind: str, line: int) -> None:
        if path in self.capture.entries:
            raise self.fail("path", path, f"each once; it stands in line {self.capture.entries[path].line} already")
        if path in self.parents and kind != FOLDER:
            raise self.fail("path", path, f"no {kind} there; line {self.parents[path]} makes it a folder")
        parent = posixpath.dirname(path)
        while parent:
            above = self.capture.entries.get(parent)
            if above and above.kind != FOLDER:
                raise self.fail("path", path, f"nothing below {parent}; line {above.line} makes that a {above.kind}")
            self.parents.setdefault(parent, line)
            parent = posixpath.dirname(parent)


def parse(data: bytes, where: str) -> Capture:
    """Parses a capture; `where` names it in messages. Raises ClusterError for anything the format does not allow."""
    if len(data) > MAX_FILE:
        raise bad_input(f"{where}:1: size of the file", str(len(data)), f"at most {MAX_FILE} bytes")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise bad_input(f"{where}:{line}: text", f"\\x{data[error.start]:02x}", "UTF-8") from error
    return _Parser(text, where).parse()


def read(path: Path) -> Capture:
    """Reads and parses the capture at `path`."""
    try:
        with open(path, "rb") as file:
            return parse(file.read(MAX_FILE + 1), os.path.relpath(path))
    except OSError as error:
        raise ClusterError(f"{path}: cannot read this capture: {error.strerror}", BAD_INPUT) from error


def lay_out(entries: dict[str, Entry], root: Path, skip=lambda path: False) -> None:
    """Writes files, links and folders below `root`; what a disk cannot imitate is left out, as is what `skip` names."""
    made: set[str] = set()
    for path, entry in entries.items():
        if entry.kind in (UNREADABLE, DEVICE) or skip(path):
            continue
        full = os.path.join(root, path)
        folder = full if entry.kind == FOLDER else os.path.dirname(full)
        if folder not in made:
            os.makedirs(folder, exist_ok=True)
            made.add(folder)
        if entry.kind == LINK:
            os.symlink(entry.value, full)
        elif entry.kind == FILE:
            with open(full, "x", encoding="utf-8", newline="") as file:
                file.write(entry.value)
