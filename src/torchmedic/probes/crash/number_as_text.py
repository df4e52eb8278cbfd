"""Finds a text that spells a number among the values of a failed call, and the line of a file that spells it so."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from torchmedic.facts import Location, NumberAsText
from torchmedic.probes.crash.comprehensions import scope_at
from torchmedic.probes.source.expressions import failing_expression, parsed, peek
from torchmedic.probes.source.frames import is_user_file, location, shown_path
from torchmedic.probes.source.sources import user_files_behind
from torchmedic.redaction import redact

_REFUSALS = re.compile(
    r"'(?:str|float|int)' and '(?:str|float|int)'|real number, not str|not (?:a )?str\b|by non-int of type 'float'"
    r"|'str' object cannot be interpreted as an integer|must be \w+, not str|could not convert string"
    r"|element of type str\b|got:? (?:\(|<class ')?str\b|positive integer value, but got batch_size="
)
_FILE_ENDINGS = (".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".json", ".env")
_LARGEST_FILE = 1 << 18


def number_as_text(error: BaseException) -> NumberAsText | None:
    """For an operation that was refused because one side is text."""
    if not _REFUSALS.search(str(error)):
        return None
    level, levels = error.__traceback__, []
    while level is not None:
        levels.append(level)
        level = level.tb_next
    files = user_files_behind([level.tb_frame for level in levels])
    # A library knows the text by the name of a parameter, the user by the name of a setting.
    own = [level for level in reversed(levels) if is_user_file(level.tb_frame.f_code.co_filename)]
    known = (pair for level in reversed(levels) for pair in [*_read_by(level), *level.tb_frame.f_locals.items()])
    for name, value in (*(pair for level in own[:1] for pair in _read_by(level)), *known):
        if isinstance(value, str) and _is_number(value):
            return _told(files, name, value)
    return None


def _read_by(level: TracebackType) -> Iterator[tuple[str, Any]]:
    """What the failing expression reads."""
    node, scope = failing_expression(level), scope_at(level)
    for part in ast.walk(node) if node is not None else ():
        name = _last_name(part)
        if name:
            yield name, peek(part, scope)


def _last_name(node: ast.AST) -> str:
    """The name that a value goes by where it is read.

    >>> [_last_name(ast.parse(text, mode="eval").body) for text in ("rate", "self.rate", "cfg['rate']", "1 + 1")]
    ['rate', 'rate', 'rate', '']
    """
    if isinstance(node, ast.Subscript):
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        return key if isinstance(key, str) else ""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _told(files: list[str], name: str, text: str) -> NumberAsText:
    handed = list(_handed(files, name))
    for setting in dict.fromkeys([name, *(each for _, each in handed)]):
        written = _written(files, setting, text)
        if written is not None:
            place = next((place for place, each in handed if each == setting), None)
            return NumberAsText(name=name, text=text, written=written, setting=setting, handed=place)
    place, setting = handed[0] if len(handed) == 1 else (None, "")
    return NumberAsText(name=name, text=text, setting=setting, handed=place)


def _handed(files: list[str], name: str) -> Iterator[tuple[Location, str]]:
    """Calls that give a value under this name, and the value's own name."""
    for file in files:
        tree = parsed(file)
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.keyword) and node.arg == name and _last_name(node.value):
                yield location(file, node.lineno), _last_name(node.value)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return any(letter.isdigit() for letter in text)


def _written(files: list[str], name: str, text: str) -> Location | None:
    """The line of a configuration file that gives the text to the name."""
    alone = rf"""^\s*["']?{re.escape(name)}["']?\s*[:=]\s*["']?{re.escape(text)}["']?\s*,?\s*(#.*)?$"""
    # Several settings on one line, as in JSON: between quotes, and with nothing else that is called so.
    among = rf"""(?<![\w-])["']?{re.escape(name)}["']?\s*[:=]\s*["']{re.escape(text)}["']"""
    for spelt in (alone, among):
        found = [
            Location(file=shown_path(str(path)), line=number, source=redact(line))
            for path in dict.fromkeys(_named_files(files))
            for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1)
            if re.search(spelt, line)
        ]
        if found and (spelt is alone or len(found) == 1):
            return found[0]
    return None


def _named_files(sources: list[str]) -> Iterator[Path]:
    """Files of configuration that the user's source names, beside it or in the working directory."""
    for source in sources:
        tree = parsed(source)
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.endswith(_FILE_ENDINGS):
                for folder in (os.getcwd(), os.path.dirname(os.path.abspath(source))):
                    path = Path(folder) / node.value
                    if path.is_file() and path.stat().st_size <= _LARGEST_FILE:
                        yield path
