"""A web page where a data file should be: what a login gateway leaves behind after a download."""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Iterator
from pathlib import Path

from torchmedic.facts import PageInFile
from torchmedic.probes.source.frames import shown_path
from torchmedic.redaction import redact

_READERS = re.compile(
    r"Unpickling|BadZip|BadGzip|JSONDecode|ParserError|UnidentifiedImage|SafetensorError|ReadError|EOFError"
)
_BROKEN = re.compile(r"(?i)invalid load key|not a (?:zip|gzip)|PytorchStreamReader|header|magic number|invalid magic")
_LARGEST = 4 * 1024 * 1024


def page_in_file(error: BaseException) -> PageInFile | None:
    """The file being read when a reader failed, if it begins like a web page."""
    if not (_READERS.search(type(error).__name__) or _BROKEN.search(str(error)[:2000])):
        return None
    for path in _files_in_sight(error):
        head = _head(path)
        if re.match(rb"(?is)\s*(?:<!doctype html|<html|<head)", head):
            title = re.search(rb"(?is)<title[^>]*>(.*?)</title>", head)
            said = " ".join(title.group(1).decode(errors="replace").split())[:80] if title else ""
            return PageInFile(file=redact(shown_path(str(path))), title=redact(said), size=path.stat().st_size)
    return None


def _files_in_sight(error: BaseException) -> Iterator[Path]:
    """Files that variables of the traceback name, innermost frame first."""
    for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
        for value in list(frame.f_locals.values()):
            name = getattr(value, "name", value) if not isinstance(value, (str, os.PathLike)) else value
            if isinstance(name, (str, os.PathLike)) and 0 < len(str(name)) < 4096 and "\0" not in str(name):
                path = Path(name)
                if _is_small_file(path):
                    yield path


def _is_small_file(path: Path) -> bool:
    try:
        return path.is_file() and path.stat().st_size <= _LARGEST
    except OSError:
        return False


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(4096)
    except OSError:
        return b""
