"""Which frames are the user's own, and where they stand."""

from __future__ import annotations

import functools
import linecache
import os
import re
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from torchmedic.facts import Location
from torchmedic.redaction import redact

_known_as: dict[str, str] = {}
_PASSING_ON = ("torchmedic", "torch", "functools", "contextlib")
# The bodies of comprehensions have frames of their own up to Python 3.11.
COMPREHENSIONS = frozenset(("<listcomp>", "<setcomp>", "<dictcomp>"))
_OF_A_COMPREHENSION = re.compile(r"\.?<(?:list|set|dict)comp>")
_CACHES = frozenset((".cache", "cache", "Caches"))
_OF_A_LAYER = re.compile(r"_(?:propagate|edge_updater)_\w{8}\.py$")
_PACKAGE = str(Path(__file__).resolve().parents[2]) + os.sep


@functools.cache
def _library_roots() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    roots = {paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")}
    return tuple(os.path.realpath(root) + os.sep for root in roots)


@functools.lru_cache(maxsize=4096)
def _real_folder(folder: str) -> str:
    return os.path.realpath(folder)


def _real_path(filename: str) -> str:
    """`os.path.realpath`, without a look at every folder of the path again for every file in it."""
    folder, name = os.path.split(filename)
    if not os.path.isabs(folder) or name in ("", os.curdir, os.pardir):
        return os.path.realpath(filename)
    path = os.path.join(_real_folder(folder), name)
    return os.path.realpath(path) if os.path.islink(path) else path


def _is_written_by_pyg(path: str) -> bool:
    """Whether a file is the code that PyG writes into the temp folder for each kind of layer, the user's own as well.

    >>> _is_written_by_pyg("models/graph_propagate_function.py")
    False
    """
    folder, name = os.path.split(path)
    if name.startswith("torch_geometric.") or _OF_A_LAYER.search(name) is None:
        return name.startswith("torch_geometric.")
    import tempfile

    return folder == _real_folder(tempfile.gettempdir())


def _is_installed(path: str) -> bool:
    """Whether a file lies among installed packages.

    >>> _is_installed("/env/lib/python3.11/site-packages/pandas/core/frame.py"), _is_installed("project/train.py")
    (True, False)
    """
    return f"{os.sep}site-packages{os.sep}" in path or f"{os.sep}dist-packages{os.sep}" in path


def _is_cached(path: str) -> bool:
    """Whether a file lies in a cache, to which installers link the packages that several environments share.

    >>> _is_cached(".cache/uv/archive-v0/x1/pandas/core/frame.py"), _is_cached("project/train.py")
    (True, False)
    """
    return not _CACHES.isdisjoint(path.split(os.sep))


# Asked of every module that is loaded: as many entries as the largest frameworks have files.
@functools.lru_cache(maxsize=32768)
def is_user_file(filename: str) -> bool:
    """Whether a code object's file belongs to the user: not Python's, not a package's, not ours.

    >>> is_user_file("<frozen runpy>"), is_user_file("pandas/_libs/index.pyx")
    (False, False)
    """
    if not filename or (filename.startswith("<") and not filename.startswith("<ipython-input")):
        return False
    path = _real_path(filename)
    # A compiled extension names the file it was made from, as it lay on the machine that built it.
    if filename.endswith((".pyx", ".pxi", ".pxd")) and not os.path.exists(path):
        return False
    if path.startswith(_PACKAGE) or _is_installed(path) or _is_written_by_pyg(path):
        return False
    if _is_installed(filename) and _is_cached(path):
        return False
    return not path.startswith(_library_roots())


@functools.lru_cache(maxsize=4096)
def is_own_file(filename: str) -> bool:
    """Whether a file is part of torchmedic."""
    return os.path.realpath(filename).startswith(_PACKAGE)


def outward(frame: FrameType | None) -> Iterator[FrameType]:
    """A frame and its callers, innermost first."""
    while frame is not None:
        yield frame
        frame = frame.f_back


def user_frame(frame: FrameType | None = None) -> FrameType | None:
    """The innermost frame of the user's own code."""
    at = frame or sys._getframe(1)
    # No generator: this is asked in every step.
    while at is not None and not is_user_file(at.f_code.co_filename):
        at = at.f_back  # type: ignore[assignment]
    return at


def standing(frame: FrameType | None) -> tuple[dict[int, int], tuple[CodeType, int] | None]:
    """Which instruction a frame and its callers are at, by `id(frame)`, and the same of the innermost user's code.

    It runs in every step, and a line number would have to be decoded from a table that is as long as the script.
    """
    stack: dict[int, int] = {}
    at = None
    while frame is not None:
        instruction = stack[id(frame)] = frame.f_lasti
        if at is None and is_user_file(frame.f_code.co_filename):
            at = (frame.f_code, instruction)
        frame = frame.f_back
    return stack, at


def package_below(user: FrameType | None, through: str = "") -> str:
    """The framework whose code runs between the user's line and this call; functions named `through` pass it on."""
    at: FrameType | None = sys._getframe(1)
    while at is not None and at is not user:
        package = str(at.f_globals.get("__name__", "")).partition(".")[0]
        if package not in _PASSING_ON and at.f_code.co_name != through:
            return package
        at = at.f_back
    return ""


def file_of(kind: type) -> str:
    """The file whose module a class belongs to; empty where there is none."""
    return getattr(sys.modules.get(kind.__module__), "__file__", None) or ""


def names_in(frame: FrameType) -> Mapping[str, Any]:
    """The names that a frame has for its own; since Python 3.13 those of a module lack while its comprehension runs."""
    names: Mapping[str, Any] = frame.f_locals
    is_apart = frame.f_code.co_name == "<module>" and names is not frame.f_globals
    return {**frame.f_globals, **names} if is_apart else names


def user_location(frame: FrameType | None = None) -> Location | None:
    """The user's line that led here."""
    found = user_frame(frame or sys._getframe(1))
    return None if found is None else location_of(found)


def location_of(frame: FrameType) -> Location:
    return location(frame.f_code.co_filename, frame.f_lineno or 0, frame.f_code.co_qualname)


def location_in(code: CodeType, instruction: int) -> Location:
    """Where an instruction stands: the line is worked out here, because that is too dear for every step."""
    return location(code.co_filename, line_of(code, instruction), code.co_qualname)


def line_of(code: CodeType, instruction: int) -> int:
    """The line of an instruction."""
    return next((line or 0 for first, end, line in code.co_lines() if first <= instruction < end), 0)


@functools.lru_cache(maxsize=8192)
def location(filename: str, line: int, function: str = "") -> Location:
    """A location with its source line, the path relative to the working directory where it lies below it."""
    source = linecache.getline(filename, line).rstrip("\n")
    return Location(file=shown_path(filename), line=line, function=_plain_name(function), source=redact(source))


def show_as(filename: str, name: str) -> None:
    """Give code that lies in no file of the user's (a notebook's cell) the name under which they know it."""
    _known_as[filename] = name


def shown_path(filename: str) -> str:
    """A path as the user would type it."""
    if filename in _known_as:
        return _known_as[filename]
    if filename.startswith("<"):
        return filename
    path = os.path.realpath(filename)
    try:
        here = os.path.realpath(os.getcwd())
    except OSError:
        return path
    return os.path.relpath(path, here) if path.startswith(here + os.sep) else path


def _plain_name(function: str) -> str:
    """The name of a function as people write it; a comprehension is a part of the one that it stands in.

    >>> _plain_name("Net.forward.<locals>.<listcomp>"), _plain_name("<listcomp>")
    ('Net.forward', '<module>')
    """
    return _OF_A_COMPREHENSION.sub("", function.replace("<locals>.", "")) or ("<module>" if function else "")
