"""Tells a result of torchmedic's, which may be written anew, from a file of the user's, which may not."""

from __future__ import annotations

from pathlib import Path

_END = 16_384  # bytes: every mark stands near the beginning or the end

# How a result begins, and what none but ours says.
_MARKS = (
    (b"<!doctype html>", b'name="generator" content="torchmedic'),
    (b"{", b'"tool": "torchmedic"'),
    (b"{", b'"informationUri": "https://github.com/torchmedic/torchmedic"'),
    (b"\x89PNG", b"torchmedic"),
    (b"%PDF", b"torchmedic"),
    (b"<?xml", b"torchmedic"),
    (b"source,row,column,trouble,value,id", b""),
    (b"PAR1", b"torchmedic"),
)


def is_ours(path: Path) -> bool:
    """Whether a file holds a result of torchmedic's, or nothing at all."""
    try:
        with path.open("rb") as file:
            head = file.read(_END)
            size = file.seek(0, 2)
            file.seek(max(len(head), size - _END))
            ends = head + file.read()
    except OSError:
        return False
    return not ends or any(head.startswith(beginning) and mark in ends for beginning, mark in _MARKS)
