# SPDX-License-Identifier: Apache-2.0
"""The log of a training (docs/formats.md): a JSON object a line, appended, each in one write."""
import json
import math
import os
import sys

VERSION = 1


class Log:
    """Lines of one file; None: of none. What cannot be written ends the log with one message and not the training."""

    def __init__(self, path, clock):
        """clock: gives seconds since 1970."""
        self._path, self._clock, self._descriptor = path, clock, None
        if path is None:
            return
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        size = os.fstat(self._descriptor).st_size
        # A line that a killed run left unfinished is ended, and is then the only one that is no JSON.
        if size and os.pread(self._descriptor, 1, size - 1) != b"\n":
            self._write(b"\n")

    def add(self, event, **values):
        """A line; values that are None are left out, and numbers that JSON does not have become texts."""
        if self._descriptor is None:
            return
        kept = {key: str(value) if isinstance(value, float) and not math.isfinite(value) else value
                for key, value in values.items() if value is not None}
        record = {"v": VERSION, "event": event, "time": round(self._clock(), 3), **kept}
        self._write((json.dumps(record) + "\n").encode())

    def _write(self, data):
        try:
            written = os.write(self._descriptor, data)
            if written != len(data):
                raise OSError(0, f"wrote {written} of {len(data)} bytes")
        except OSError as error:
            print(f"train_lm: rank 0: {self._path}: {error.strerror}; the log ends here, the training goes on", file=sys.stderr, flush=True)
            os.close(self._descriptor)
            self._descriptor = None
