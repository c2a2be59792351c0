# SPDX-License-Identifier: Apache-2.0
"""What two programs measured is taken out of their output; what is left must be the same, byte for byte.

Masked: the columns time, algbw, busbw and those of -I, the average, process numbers, host names, time stamps, amounts
of memory, and where in a source an error was found. A number is masked only where it is written as nccl-tests writes it
(width, decimals); everything else stays and shows up as a difference. Sizes, counts, types, operations, roots, #wrong
and all of the header are never masked.
"""
import difflib
import re
from dataclasses import dataclass

OWN_LINE = re.compile(r"# nccl-bench \S+ backend .*")
TIME_WIDTH = 7


def _column(width):
    # Only what is measured is a group: the rest of a match stays.
    return rf"  ([ \d.e+\-naif]{{{width}}})"


_BLOCK = _column(7) + _column(6) + _column(6) + r"(?:    N/A|   *[\d.e+]+)"
_ITERATIONS = _column(7) * 4
_FRONT = r" *\d+  +\d+  .{8}  .{6}  +-?\d+"
_STAMP = r"(?:  (?P<stamp>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d))?"
_ROWS = (re.compile(_FRONT + 2 * _BLOCK + _STAMP), re.compile(_FRONT + 2 * (_BLOCK + _ITERATIONS) + _STAMP))
# The summary of alltoallv comes between the pieces of a row.
_SUMMARY = r"# NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY: .* time_usec=(?P<plain>\d+\.\d\d)"
_PIECES = (re.compile(_FRONT + _SUMMARY), re.compile(_BLOCK + _SUMMARY), re.compile(_BLOCK))
_RANK = re.compile(r"#   rank=\d+ send_bytes=\d+ recv_bytes=\d+ alg_bw=(?P<plain>\d+\.\d\d) bus_bw=(?P<plain2>\d+\.\d\d)")
_DEVICE = re.compile(r"(#  Rank [ \d]\d+ Group [ \d]\d+ Pid )( *\d+)( on )( *\S+)( device [ \d]\d+ \[.*)")
_AVERAGE = re.compile(r"(# Avg bus bandwidth    : )(\S+)( .*)")
_MEMORY = re.compile(r"# GPU memory usage     : ")
_AMOUNT = re.compile(r"-?\d+(?:\.\d+)? [KMG]?B\b")
_FAILURE = re.compile(r".*\bTest (NCCL failure|CUDA failure|failure|timeout) .*")


@dataclass(frozen=True)
class Measured:
    """One row: bytes, then time (us), algbw and busbw (GB/s), each out of place and in place."""

    size: int
    times: tuple
    algorithm: tuple
    bus: tuple


def decimals(digits, width):
    """How many decimals nccl-tests prints in `width` characters after so many characters before the point."""
    return next((n for n in (2, 1) if digits + 1 + n <= width), 0)


def is_written_right(text, width):
    """Whether the number is right-aligned in `width` characters with the decimals that nccl-tests gives it."""
    number = text.strip()
    if len(text) != width or text != number.rjust(width):
        return False
    if number in ("nan", "-nan", "inf", "-inf"):
        return True
    if re.fullmatch(r"\d\.\de[+-]\d\d" if width >= TIME_WIDTH else r"\de[+-]\d\d", number):
        return True
    plain = re.fullmatch(r"(-?\d+)(?:\.(\d+))?", number)
    return bool(plain) and len(plain[2] or "") == decimals(len(plain[1]), width)


def _hide(name, text):
    if name == "stamp":
        return "YYYY-MM-DD HH:MM:SS"
    if name:  # of no fixed width
        return "#"
    return "#" * len(text) if is_written_right(text, len(text)) else text


def _hide_groups(match):
    names = {number: name for name, number in match.re.groupindex.items()}
    out, end = "", 0
    for number in range(1, match.re.groups + 1):
        if match.group(number) is not None:
            out += match.string[end : match.start(number)] + _hide(names.get(number), match.group(number))
            end = match.end(number)
    return out + match.string[end:]


def _padded(text, width, mask):
    """The mask in as many characters, when the text stands right-aligned in `width` or fills more."""
    bare = text.strip()
    return mask.rjust(width) if text == bare.rjust(width) else text


def _mask_line(line):
    for pattern in (*_ROWS, *_PIECES, _RANK):
        match = pattern.fullmatch(line)
        if match:
            return _hide_groups(match)
    device = _DEVICE.fullmatch(line)
    if device:
        host = _padded(device[4], 10, "H" * len(device[4].strip()))
        return device[1] + _padded(device[2], 6, "PID") + device[3] + host + device[5]
    average = _AVERAGE.fullmatch(line)
    # With one rank most are 0, whatever was measured.
    if average and average[2] != "0" and re.fullmatch(r"[\d.e+-]+", average[2]) and f"{float(average[2]):g}" == average[2]:
        return average[1] + "#" + average[3]
    if _MEMORY.match(line):
        return _AMOUNT.sub("#", line)
    failure = _FAILURE.fullmatch(line)
    return f"<Test {failure[1]}>" if failure else line


def mask(text):
    """The text with what was measured masked. Failures that are passed on from caller to caller are one line."""
    out = []
    for line in text.split("\n"):
        masked = _mask_line(line)
        if not (masked.startswith("<Test ") and out and out[-1].startswith("<Test ")):
            out.append(masked)
    return "\n".join(out)


def without_own_line(text):
    """Our stdout without the one line that we add, and what is wrong about that line, or nothing."""
    lines = text.split("\n")
    own = [i for i, line in enumerate(lines) if OWN_LINE.fullmatch(line)]
    header = [i for i, line in enumerate(lines) if line.startswith("# nccl-tests version ")]
    if not header and not own:
        return text, ""
    if own != [i + 1 for i in header]:
        return text, f"the line \"# nccl-bench ...\" stands {len(own)} times, expected once, behind \"# nccl-tests version\""
    return "\n".join(line for i, line in enumerate(lines) if i not in own), ""


def differences(ours, theirs):
    """The lines of a diff of two texts, each quoted so that blanks show; none when they are the same bytes."""
    if ours == theirs:
        return []
    left, right = ours.split("\n"), theirs.split("\n")
    found = difflib.unified_diff([repr(l) for l in right], [repr(l) for l in left], "nccl-tests", "nccl-bench", lineterm="")
    return list(found)


def measured_rows(text):
    """The rows of a table. Rows in pieces (alltoallv's summary) and half rows are left out."""
    out = []
    for line in text.split("\n"):
        match = next((m for m in (pattern.fullmatch(line) for pattern in _ROWS) if m), None)
        if match:
            each = 3 + (4 if match.re is _ROWS[1] else 0)
            values = [float(match.group(first + i)) for first in (1, 1 + each) for i in range(3)]
            out.append(Measured(int(line.split()[0]), tuple(values[0::3]), tuple(values[1::3]), tuple(values[2::3])))
    return out


ENOUGH = 1.0  # GB/s, us: from here on two decimals are enough to judge a ratio
NEAR = 0.03
COARSE = 999999.5  # from here on one digit is printed


def _near(one, other):
    return abs(one - other) <= NEAR * max(abs(one), abs(other), 1e-9)


def _block_fault(ours, theirs, place, with_time):
    """What is not the same in two blocks of the same size beyond their speed: how the bandwidths follow from the time."""
    pairs = [(row.times[place], row.algorithm[place], row.bus[place]) for row in (ours, theirs)]
    if any(not (time >= ENOUGH and algorithm >= ENOUGH) for time, algorithm, _ in pairs):
        return ""
    if any(algorithm >= COARSE for _, algorithm, _ in pairs):
        return ""
    factors = [bus / algorithm for _, algorithm, bus in pairs]
    if not _near(*factors):
        return f"busbw/algbw {factors[0]:.3f}, nccl-tests {factors[1]:.3f}"
    amounts = [time * algorithm for time, algorithm, _ in pairs]
    if with_time and not _near(*amounts):
        return f"time x algbw {amounts[0]:.4g}, nccl-tests {amounts[1]:.4g}"
    return ""


def definition_faults(ours, theirs):
    """Rows whose bandwidths follow otherwise from the time than nccl-tests' do: what the masks would hide."""
    out = []
    with_time = " cputime " not in theirs
    left, right = measured_rows(ours), measured_rows(theirs)
    for number, (one, other) in enumerate(zip(left, right)):
        for place, name in enumerate(("out of place", "in place")):
            fault = _block_fault(one, other, place, with_time)
            if fault:
                out.append(f"row {number + 1}, {one.size} bytes, {name}: {fault}")
    return out
