"""Whether a file packed by zstd goes on to its end; the engine reads what is there of one that was cut off."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

_MAGIC = 0xFD2FB528
_SKIPPED = range(0x184D2A50, 0x184D2A60)
_LENGTHS_OF_SIZE = (0, 2, 4, 8)
_LENGTHS_OF_DICTIONARY = (0, 1, 2, 4)
_ONE_VALUE = 1


def is_cut(path: Path) -> bool:
    """Whether the last frame lacks blocks. Only the heads of blocks are read: nothing is unpacked."""
    if path.suffix != ".zst":
        return False
    size = path.stat().st_size
    with path.open("rb") as file:
        while file.tell() < size:
            magic = _number(file, 4)
            if magic in _SKIPPED:
                file.seek(_number(file, 4), os.SEEK_CUR)
            elif magic == _MAGIC:
                _pass_frame(file, size)
            else:
                return False
        return file.tell() > size


def _pass_frame(file: BinaryIO, size: int) -> None:
    """Go behind a frame, or beyond the end of a file that lacks a part of it."""
    described = _number(file, 1)
    single, summed = described & 32, described & 4
    length = _LENGTHS_OF_SIZE[described >> 6] or (1 if single else 0)
    file.seek((0 if single else 1) + _LENGTHS_OF_DICTIONARY[described & 3] + length, os.SEEK_CUR)
    last = 0
    while not last:
        if file.tell() + 3 > size:
            file.seek(size + 1)
            return
        head = _number(file, 3)
        last, kind, length = head & 1, head >> 1 & 3, head >> 3
        file.seek(1 if kind == _ONE_VALUE else length, os.SEEK_CUR)
    file.seek(4 if summed else 0, os.SEEK_CUR)


def _number(file: BinaryIO, length: int) -> int:
    return int.from_bytes(file.read(length), "little")
