"""Finds a text that spells a number among the values of a failed call, and the line of a file that spells it so."""

from __future__ import annotations

import ast
import os
import re
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from torchmedic.facts import Location, NumberAsText
from torchmedic.probes.expressions import parsed
from torchmedic.probes.frames import is_user_file, shown_path
from torchmedic.redaction import redact

_REFUSALS = re.compile(
    r"'(?:str|float|int)' and '(?:str|float|int)'|real number, not str|not (?:a )?str\b|by non-int of type 'float'"
    r"|'str' object cannot be interpreted as an integer|must be \w+, not str|could not convert string"
)
_FILE_ENDINGS = (".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".json", ".env")
_LARGEST_FILE = 1 << 18


def number_as_text(error: BaseException) -> NumberAsText | None:
    """For an operation that was refused because one side is text."""
    if not _REFUSALS.search(str(error)):
        return None
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    for frame in reversed(frames):
        for name, value in list(frame.f_locals.items()):
            if isinstance(value, str) and _is_number(value):
                return NumberAsText(name=name, text=value, written=_written(frames, name, value))
    return None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return any(letter.isdigit() for letter in text)


def _written(frames: list[FrameType], name: str, text: str) -> Location | None:
    """The line of a configuration file that gives the text to the name."""
    spelt = re.compile(rf"""^\s*["']?{re.escape(name)}["']?\s*[:=]\s*["']?{re.escape(text)}["']?\s*,?\s*(#.*)?$""")
    for path in _named_files(frames):
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1):
            if spelt.match(line):
                return Location(file=shown_path(str(path)), line=number, source=redact(line))
    return None


def _named_files(frames: list[FrameType]) -> Iterator[Path]:
    """Files of configuration that the user's source names, beside it or in the working directory."""
    sources = dict.fromkeys(f.f_code.co_filename for f in frames if is_user_file(f.f_code.co_filename))
    for source in sources:
        tree = parsed(source)
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.endswith(_FILE_ENDINGS):
                for folder in (os.getcwd(), os.path.dirname(os.path.abspath(source))):
                    path = Path(folder) / node.value
                    if path.is_file() and path.stat().st_size <= _LARGEST_FILE:
                        yield path
