# SPDX-License-Identifier: Apache-2.0
"""The changelog as Debian wants it, made from CHANGELOG.md, and the version from base/version.h."""
import email.utils
import re
from datetime import datetime, timezone

# When a version that is not yet released counts as made: 2026-01-01.
UNRELEASED = 1767225600
MAINTAINER = "nccl-tune maintainers <maintainers@nccl-tune.invalid>"
HEADING = re.compile(r"## ([0-9][0-9A-Za-z.+~]*) \((unreleased|\d{4}-\d\d-\d\d)\)")
VERSION = re.compile(r'kVersion = "([0-9][0-9A-Za-z.+~]*)";')


class BadInput(Exception):
    """A file that cannot be used, with what is wrong in one line."""


def version_of(header):
    """The version in the text of base/version.h."""
    found = VERSION.findall(header)
    if len(found) != 1:
        raise BadInput(f'base/version.h: got {len(found)} lines with kVersion = "NUMBER";, expected one')
    return found[0]


def _sections(markdown):
    """(version, date, lines) of each version, newest first."""
    out = []
    for number, line in enumerate(markdown.splitlines(), 1):
        if line.startswith("## "):
            match = HEADING.fullmatch(line)
            if not match:
                raise BadInput(f'CHANGELOG.md:{number}: got "{line}", expected "## VERSION (unreleased)" or a date YYYY-MM-DD in it')
            out.append((match[1], match[2], []))
        elif out:
            out[-1][2].append(line)
    return out


def _seconds(date):
    if date == "unreleased":
        return UNRELEASED
    try:
        return int(datetime.strptime(date, "%Y-%m-%d").replace(tzinfo=timezone.utc).timestamp())
    except ValueError as error:
        raise BadInput(f'CHANGELOG.md: got the date "{date}", expected YYYY-MM-DD') from error


def _entries(lines):
    """The lines of one version: items begin with a star, all else is indented below."""
    out = []
    for line in lines:
        if line.startswith("- "):
            out.append("  * " + line[2:])
        elif line.strip():
            out.append(("    " if line.startswith(" ") else "  ") + line.strip())
    return out or ["  * No changes are listed."]


def convert(markdown, version):
    """(text, seconds since 1970 of the newest version); the newest must be `version`."""
    sections = _sections(markdown)
    if not sections or sections[0][0] != version:
        seen = sections[0][0] if sections else "none"
        raise BadInput(f'CHANGELOG.md: got "{seen}" as the newest version, expected "{version}" as base/version.h has it')
    blocks = []
    for number, date, lines in sections:
        suite = "UNRELEASED" if date == "unreleased" else "unstable"
        day = email.utils.formatdate(_seconds(date))
        blocks.append("\n".join([f"nccl-tune ({number}) {suite}; urgency=medium", "", *_entries(lines), "",
                                 f" -- {MAINTAINER}  {day.replace('-0000', '+0000')}", ""]))
    return "\n".join(blocks), _seconds(sections[0][1])
