# SPDX-License-Identifier: Apache-2.0
"""The Slurm release a plugin was stamped for, read from its file: the number behind the symbol plugin_version."""
import struct

from changelog import BadInput

SYMBOL = b"plugin_version"
DYNAMIC_SYMBOLS = 11  # SHT_DYNSYM
NO_BITS = 8
SECTION = struct.Struct("<IIQQQQIIQQ")
ENTRY = struct.Struct("<IBBHQQ")


def _sections(data):
    if data[:6] != b"\x7fELF\x02\x01" or len(data) < 64:
        raise BadInput("no 64-bit little-endian ELF file")
    offset, = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    if size != SECTION.size or offset + size * count > len(data):
        raise BadInput("its table of sections is broken")
    return [SECTION.unpack_from(data, offset + size * index) for index in range(count)]


def _address(data, sections):
    """The address of the symbol."""
    for _, kind, _, _, offset, size, link, _, _, _ in sections:
        if kind != DYNAMIC_SYMBOLS or link >= len(sections):
            continue
        names = sections[link][4]
        for at in range(offset, offset + size - ENTRY.size + 1, ENTRY.size):
            name, _, _, section, value, _ = ENTRY.unpack_from(data, at)
            if section and data[names + name:names + name + len(SYMBOL) + 1] == SYMBOL + b"\0":
                return value
    raise BadInput("it exports no plugin_version, so it is no Slurm plugin")


def release(data):
    """(major, minor) of the release, (22, 5) for 22.05, from the bytes of a plugin."""
    try:
        sections = _sections(data)
        address = _address(data, sections)
        for _, kind, _, start, offset, size, _, _, _, _ in sections:
            if start and kind != NO_BITS and start <= address and address + 4 <= start + size:
                number, = struct.unpack_from("<I", data, offset + address - start)
                if number >> 16:
                    return number >> 16, number >> 8 & 0xff
    except struct.error as error:
        raise BadInput(f"it is cut short: {error}") from error
    raise BadInput("its plugin_version holds no release")


def text(found):
    """A release as Slurm writes it."""
    return f"{found[0]}.{found[1]:02d}"


def depends(found):
    """The packages with that release: Debian's, or Slurm's own (slurm-smd, which conflicts with Debian's)."""
    least, below = text(found), text((found[0], found[1] + 1)) + "~"
    return ", ".join(" | ".join(f"{package} ({sign} {number})" for package in ("slurm-wlm-basic-plugins", "slurm-smd"))
                     for sign, number in ((">=", least), ("<<", below)))
