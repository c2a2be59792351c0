# SPDX-License-Identifier: Apache-2.0
"""The exceptions of this package: a message for the user with its exit status, and the wish to end."""

FAILED = 1  # the cluster is not in the state that the command needs, or did not start
BAD_INPUT = 2  # an option, a capture or a name is wrong
NOT_POSSIBLE = 3  # this machine lacks a program or does not allow namespaces


class ClusterError(Exception):
    """What went wrong, where, what was expected and what to do; `status` is the exit status."""

    def __init__(self, message: str, status: int = FAILED):
        super().__init__(message)
        self.status = status


class Interrupted(BaseException):
    """A signal asked this process to end; `number` says which."""

    def __init__(self, number: int):
        super().__init__(number)
        self.number = number


def words_of(error: Exception) -> str:
    """An error without its number: `mount proc on /proc: Operation not permitted`."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def bad_input(what: str, got: str, expected: str) -> ClusterError:
    """An error about input, in the form that all messages of this kind have."""
    return ClusterError(f'{what}: got "{got}", expected {expected}', BAD_INPUT)
