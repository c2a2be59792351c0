# SPDX-License-Identifier: Apache-2.0
"""The files of a checkpoint (docs/formats.md): written beside, brought to disk, renamed. Knows nothing of what is in them.

A checkpoint is a folder step-NNNNNNNN. Until it is whole its name is step-NNNNNNNN.partial, so that a folder without an ending
is whole, whenever the power fails; one that turns out to be damaged all the same becomes step-NNNNNNNN.damaged."""
import json
import os
import re
import shutil
import zlib

from lm.problem import NOT_SAVED, WRONG_USE, Problem

VERSION = 1
ABOUT = "about.json"
NAME = re.compile(r"step-(\d{8,})")
KEYS = {"v": int, "step": int, "sequences": int, "ranks": int, "layout": str, "model": dict, "data": dict, "training": dict,
        "files": dict}
BLOCK = 1 << 20


class Damaged(Exception):
    """Why a checkpoint cannot be used."""


def _entry(size, crc32):
    return {"bytes": size, "crc32": f"{crc32:08x}"}


def _read_through(file):
    """The entry in ABOUT of what is in an open file."""
    size = crc32 = 0
    while block := file.read(BLOCK):
        size, crc32 = size + len(block), zlib.crc32(block, crc32)
    return _entry(size, crc32)


class CheckedFile:
    """A new file that counts and sums up what is written. It keeps its first error for `close`: PyTorch's writer is C++ and
    cannot pass one on."""

    def __init__(self, path):
        self._error, self._file = None, None
        self.bytes = self.crc32 = 0
        try:
            self._file = open(path, "xb")  # pylint: disable=consider-using-with
        except OSError as error:
            self._error = error

    def write(self, data):
        """Writes all of it, or notes why not."""
        if self._error is None:
            try:
                view = memoryview(data).cast("B")
                self._file.write(view)
                self.bytes += len(view)
                self.crc32 = zlib.crc32(view, self.crc32)
            except OSError as error:
                self._error = error
        return len(data)

    def flush(self):
        """Nothing: close does it."""

    def close(self):
        """Brings it to disk. Raises the first error."""
        try:
            if self._error is None:
                self._file.flush()
                os.fsync(self._file.fileno())
        finally:
            if self._file:
                self._file.close()
        if self._error is not None:
            raise self._error

    def about(self):
        """Its entry in ABOUT."""
        return _entry(self.bytes, self.crc32)


def name_of(step):
    """The folder of a step."""
    return f"step-{step:08d}"


def partial(folder, step):
    """Where that step is written."""
    return os.path.join(folder, name_of(step) + ".partial")


def sync_folder(path):
    """Brings the names in a folder to disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def not_saved(folder, step, error):
    """The Problem of a checkpoint that could not be written: OSError or text."""
    whole = listed(folder)
    left = f"{name_of(whole[0])} is whole and is gone on from" if whole else "there is no older one"
    reason = getattr(error, "strerror", None) or error
    return Problem(f"checkpoint {os.path.join(folder, name_of(step))}: cannot be written: {reason}; {left}. Make room, or give a folder "
                   "elsewhere with --out", NOT_SAVED)


def begin(folder, step):
    """Makes the empty folder of a step that is to be written, and takes away what is left of others; returns it."""
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(folder):
        if name.endswith(".partial") and NAME.fullmatch(name[:-len(".partial")]):
            shutil.rmtree(os.path.join(folder, name))
    path = partial(folder, step)
    os.mkdir(path)
    return path


def finish(folder, step, about):
    """Writes ABOUT and gives the folder its name; it replaces one of the same step. Raises OSError."""
    path, final = partial(folder, step), os.path.join(folder, name_of(step))
    file = CheckedFile(os.path.join(path, ABOUT))
    file.write((json.dumps(about, indent=1, sort_keys=True) + "\n").encode())
    file.close()
    sync_folder(path)
    if os.path.isdir(final):
        shutil.rmtree(final)
    os.rename(path, final)
    sync_folder(folder)


def listed(folder):
    """The steps that are there, newest first."""
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    return sorted((int(match[1]) for match in map(NAME.fullmatch, names) if match), reverse=True)


def keep(folder, newest):
    """Removes all but so many of the newest. A folder is renamed before it goes, so that none is ever half there."""
    for step in listed(folder)[newest:]:
        path = partial(folder, step)
        os.rename(os.path.join(folder, name_of(step)), path)
        shutil.rmtree(path)


def read_about(path):
    """ABOUT of a checkpoint's folder. Raises Damaged; Problem for another version."""
    try:
        with open(os.path.join(path, ABOUT), encoding="utf-8") as file:
            about = json.load(file)
    except OSError as error:
        raise Damaged(f"{ABOUT}: {error.strerror}") from error
    except ValueError as error:
        raise Damaged(f"{ABOUT}: not JSON: {error}") from error
    if isinstance(about, dict) and isinstance(about.get("v"), int) and about["v"] > VERSION:
        raise Problem(f"checkpoint {path}: has format {about['v']}, this program reads {VERSION}; use a newer nccl-tune", WRONG_USE)
    for key, kind in KEYS.items():
        if not isinstance(about, dict) or not isinstance(about.get(key), kind):
            raise Damaged(f'{ABOUT}: no "{key}" of type {kind.__name__}')
    return about


def check_files(path, about, mine=lambda number: True):
    """Compares size and sum of the files that ABOUT lists with what is there: those whose number `mine` takes. Raises Damaged."""
    for number, (name, expected) in enumerate(sorted(about["files"].items())):
        if not mine(number):
            continue
        try:
            with open(os.path.join(path, name), "rb") as file:
                found = _read_through(file)
        except OSError as error:
            raise Damaged(f"{name}: {error.strerror}") from error
        if found["bytes"] != expected.get("bytes"):
            raise Damaged(f"{name}: has {found['bytes']} bytes, expected {expected.get('bytes')}")
        if found["crc32"] != expected.get("crc32"):
            raise Damaged(f"{name}: its sum (crc32) is {found['crc32']}, expected {expected.get('crc32')}")


def sum_of(path):
    """The entry in ABOUT of a file that something else has written, after bringing it to disk. Raises OSError."""
    with open(path, "rb") as file:
        found = _read_through(file)
        os.fsync(file.fileno())
    return found


def set_aside(folder, step):
    """Renames a damaged checkpoint, so that a new one of its step does not replace it; returns the new name."""
    name = name_of(step) + ".damaged"
    number = 0
    while os.path.exists(os.path.join(folder, name)):
        number += 1
        name = f"{name_of(step)}.damaged.{number}"
    os.rename(os.path.join(folder, name_of(step)), os.path.join(folder, name))
    return name


def differences(saved, now):
    """In which settings two dicts differ, as "NAME: VALUE in the checkpoint, VALUE now", sorted."""
    return [f"{key}: {saved.get(key, 'not set')} in the checkpoint, {now.get(key, 'not set')} now"
            for key in sorted(saved.keys() | now.keys()) if saved.get(key, "not set") != now.get(key, "not set")]


def check_fits(path, about, now):
    """Problem where a checkpoint is of another model, text or layout than `now` (a dict with the same keys)."""
    for what, advice in (("model", "give the options it was trained with"), ("data", "give the same --data and --context"),
                         ("layout", "give the same --parallel")):
        saved, wanted = about[what], now[what]
        found = differences(saved, wanted) if isinstance(saved, dict) else differences({what: saved}, {what: wanted})
        if found:
            raise Problem(f"checkpoint {path}: is of another {what}: {'; '.join(found)}. To go on with it {advice}; to begin anew give "
                          "another --out", WRONG_USE)
