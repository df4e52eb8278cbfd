"""Looks at the bytes that a codec refused: in which encoding they read well, or what file they begin."""

from __future__ import annotations

import io
import os
import traceback
from typing import Any

from torchmedic.facts import UndecodableText
from torchmedic.probes.crash.encodings import MOST_READ, readings_of

_KINDS = (
    (b"\x1f\x8b", "gzip"),
    (b"PK\x03\x04", "zip"),
    (b"\x89PNG", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"\x80\x02", "pickle"),
    (b"\x80\x03", "pickle"),
    (b"\x80\x04", "pickle"),
    (b"\x80\x05", "pickle"),
    (b"\x93NUMPY", "NumPy"),
    (b"\x89HDF", "HDF5"),
    (b"PAR1", "Parquet"),
)


def undecodable_text(error: BaseException) -> UndecodableText | None:
    """What a UnicodeDecodeError was about."""
    if not isinstance(error, UnicodeDecodeError):
        return None
    file = _file_behind(error)
    name = getattr(file, "name", "")
    path = name if isinstance(name, str) else ""
    content = _beginning(path) or error.object[:MOST_READ]
    readings = readings_of(content, error.encoding)
    return UndecodableText(
        codec=error.encoding,
        byte=error.object[error.start],
        position=error.start,
        file=os.path.basename(path),
        variable=_variable(error, file),
        reads_as=tuple((reading.encoding, reading.sample) for reading in readings),
        is_sure=len(readings) == 1 and readings[0].is_sure,
        format=next((kind for start, kind in _KINDS if content.startswith(start)), ""),
    )


def _file_behind(error: BaseException) -> Any:
    """The innermost open text file that a frame holds."""
    for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
        for thing in frame.f_locals.values():
            if isinstance(thing, io.TextIOWrapper):
                return thing
    return None


def _variable(error: BaseException, file: Any) -> str:
    if file is None:
        return ""
    levels = reversed(list(traceback.walk_tb(error.__traceback__)))
    return next((n for frame, _ in levels for n, thing in frame.f_locals.items() if thing is file), "")


def _beginning(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(MOST_READ)
    except OSError:
        return b""
