# SPDX-License-Identifier: Apache-2.0
"""Reads the tables of this folder: rows of columns between "|", the first naming the releases of NCCL it holds for."""


def release(text):
    """2.28.9 as numbers that compare."""
    return tuple(int(part) for part in text.split("."))


def holds_for(releases, version):
    """Whether the column `releases` of a row names this version."""
    word, _, bounds = releases.partition(" ")
    first, _, last = bounds.partition("-")
    if releases == "all":
        return True
    if word in ("from", "until") and first and not last:
        return version >= release(first) if word == "from" else version <= release(first)
    if word in ("only", "not") and last:
        return (release(first) <= version <= release(last)) == (word == "only")
    raise ValueError(f'releases: got "{releases}", expected all, from A, until B, only A-B or not A-B')


def variables(text):
    """A=b & C="d " as a dict; quotes around a value keep its blanks."""
    found = {}
    for one in filter(None, text.split(" & ")):
        name, equals, value = one.partition("=")
        if not equals or not name:
            raise ValueError(f'variables: got "{one}", expected NAME=VALUE')
        quoted = len(value) > 1 and value[0] == value[-1] == '"'
        found[name] = value[1:-1] if quoted else value
    return found


def rows(text, columns, version):
    """Number of the line and the other columns of each row that holds for this version."""
    found = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line == "" or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split("|")]
        if len(parts) != columns:
            raise ValueError(f"line {number}: got {len(parts)} columns, expected {columns}")
        if holds_for(parts[0], version):
            found.append((number, *parts[1:]))
    return found
