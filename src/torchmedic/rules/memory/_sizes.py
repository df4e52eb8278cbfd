"""Bytes and code for people."""

from __future__ import annotations


def bytes_text(count: int) -> str:
    """A size in the unit that fits.

    >>> bytes_text(512), bytes_text(3_170_000)
    ('512 bytes', '3.2 MB')
    """
    for unit, size in (("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"


def short(code: str) -> str:
    """An expression, unless it is too long to be quoted."""
    return code if len(code) <= 40 else ""


def more_than(count: int) -> str:
    """A round size below: how fast pages are copied differs from run to run.

    >>> more_than(46_800_000)
    '32 MB'
    """
    return f"{1 << (count // 1_000_000).bit_length() - 1} MB"
