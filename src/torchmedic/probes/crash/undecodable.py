"""Looks at the bytes that a codec refused: in which encoding they read well, or what file they begin."""

from __future__ import annotations

import io
import os
import traceback
from collections.abc import Iterator
from typing import Any

from torchmedic.facts import UndecodableText

# In the order in which they are tried; a codec that takes every byte would win over all others and comes last.
_ENCODINGS = ("utf-8-sig", "utf-8", "gb18030", "shift_jis", "cp1252", "latin-1")
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
_MOST = 1 << 20
# A chunk of a file may end in the middle of a character.
_LONGEST_CHARACTER = 4
_MOST_STRANGE = 0.1


def undecodable_text(error: BaseException) -> UndecodableText | None:
    """What a UnicodeDecodeError was about."""
    if not isinstance(error, UnicodeDecodeError):
        return None
    file = _file_behind(error)
    name = getattr(file, "name", "")
    path = name if isinstance(name, str) else ""
    content = _beginning(path) or error.object[:_MOST]
    return UndecodableText(
        codec=error.encoding,
        byte=error.object[error.start],
        position=error.start,
        file=os.path.basename(path),
        variable=_variable(error, file),
        reads_as=next(_readings(content, error.encoding), ""),
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
            return file.read(_MOST)
    except OSError:
        return b""


def _readings(content: bytes, refused: str) -> Iterator[str]:
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        yield "utf-16"
    for encoding in _ENCODINGS:
        if _same(encoding, refused) or (encoding == "utf-8-sig" and not content.startswith(b"\xef\xbb\xbf")):
            continue
        text = _decoded(content, encoding)
        if text is not None and _is_plausible(text):
            yield encoding


def _same(one: str, other: str) -> bool:
    return one.replace("-", "").replace("_", "").lower() == other.replace("-", "").replace("_", "").lower()


def _decoded(content: bytes, encoding: str) -> str | None:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        at_end = len(content) == _MOST and error.start >= len(content) - _LONGEST_CHARACTER
        return content[: error.start].decode(encoding) if at_end else None


def _is_plausible(text: str) -> bool:
    """Whether it reads as a text: control characters and rare blocks do not, letters and Chinese do."""
    strange = sum(not (c.isprintable() or c in "\r\n\t\f") or "\ue000" <= c <= "\uf8ff" for c in text)
    return bool(text) and strange <= _MOST_STRANGE * sum(c > "\x7f" for c in text)
