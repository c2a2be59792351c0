# SPDX-License-Identifier: Apache-2.0
"""What a user can do something about, and the exit statuses. docs/payloads.md lists them."""

DONE = 0
FAILED = 1       # something went wrong while training
WRONG_USE = 2    # options, variables, data, a model or a checkpoint that do not fit
NOT_SAVED = 74   # a checkpoint could not be written; the one before is whole. As EX_IOERR of sysexits.h
STOPPED = 75     # a signal came; all is saved, start it again. As EX_TEMPFAIL of sysexits.h


class Problem(Exception):
    """One message that says what, where, the value seen, what was expected and what to do; and the exit status.

    rank: who prints it; None: the rank that raised it, which no other rank knows of yet."""

    def __init__(self, text, status=FAILED, rank=None):
        super().__init__(text)
        self.status, self.rank = status, rank
