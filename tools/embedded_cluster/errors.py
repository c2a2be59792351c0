# SPDX-License-Identifier: Apache-2.0
"""The exceptions of this package: a message for the user with its exit status, and the wish to end."""

import re

FAILED = 1  # the cluster is not in the state that the command needs, or did not start
BAD_INPUT = 2  # an option, a capture or a name is wrong
NOT_POSSIBLE = 3  # this machine lacks a program or does not allow namespaces

UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class ClusterError(Exception):
    """What went wrong, where, what was expected and what to do; `status` is the exit status.

    `details` are lines that follow the message, such as the end of a log."""

    def __init__(self, message: str, status: int = FAILED, details: tuple[str, ...] = ()):
        super().__init__(message)
        self.status = status
        self.details = details


class Interrupted(BaseException):
    """A signal asked this process to end; `number` says which."""

    def __init__(self, number: int):
        super().__init__(number)
        self.number = number


def words_of(error: Exception) -> str:
    """An error without its number: `mount proc on /proc: Operation not permitted`."""
    if isinstance(error, OSError) and error.strerror:
        names = [str(name) for name in (error.filename, error.filename2) if name]
        return f"{' -> '.join(names)}: {error.strerror}" if names else error.strerror
    return str(error)


def one_line(text: str) -> str:
    """The text with control characters and bytes that are no UTF-8 escaped, so that a terminal shows it as it is."""
    def escape(found: re.Match) -> str:
        code = ord(found.group())
        if 0xdc80 <= code <= 0xdcff:  # a byte that Python could not decode
            code -= 0xdc00
        named = {9: "\\t", 10: "\\n", 13: "\\r"}
        return named.get(code) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
    return UNPRINTABLE.sub(escape, text)


def bad_input(what: str, got: str, expected: str) -> ClusterError:
    """An error about input, in the form that all messages of this kind have."""
    return ClusterError(f'{what}: got "{got}", expected {expected}', BAD_INPUT)
