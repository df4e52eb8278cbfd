"""Gives module names back that the script's own files would have had, had we not imported Python's modules first."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection
from types import ModuleType


def give_back_names(before: Collection[str]) -> None:
    """Forget the modules loaded since `before` of which the script's folder has one of its own.

    Without us Python would look in that folder first, so the script's `random.py` would be found, for good or ill.
    """
    folder = script_folder(sys.orig_argv[1:])
    if folder is None:
        return
    ours = [name for name in sys.modules if name not in before and "." not in name and name != "torchmedic"]
    hidden = {name for name in ours if _is_found_by_path(name) and _has_module(folder, name)}
    for name in _with_dependents(hidden, ours) if hidden else ():
        for loaded in [m for m in sys.modules if m == name or m.startswith(f"{name}.")]:
            del sys.modules[loaded]


def script_folder(arguments: list[str]) -> str | None:
    """The folder that Python will put first on the path, by its command line."""
    for word in arguments:
        if word == "-m":
            return os.getcwd()
        if not word.startswith("-") and os.path.exists(word):
            real = os.path.realpath(word)
            return real if os.path.isdir(real) else os.path.dirname(real)
    return None


def _with_dependents(hidden: set[str], candidates: list[str]) -> set[str]:
    """The modules to forget: those hidden, and those that took something from them (`tempfile` from `random`)."""
    forgotten = set(hidden)
    growing = True
    while growing:
        more = {name for name in candidates if name not in forgotten and _takes_from(name, forgotten)}
        forgotten |= more
        growing = bool(more)
    return forgotten


def _takes_from(name: str, others: set[str]) -> bool:
    if not _is_found_by_path(name):
        return False
    for thing in list(vars(sys.modules[name]).values()):
        origin = thing.__name__ if isinstance(thing, ModuleType) else getattr(thing, "__module__", None)
        if isinstance(origin, str) and origin.partition(".")[0] in others:
            return True
    return False


def _is_found_by_path(name: str) -> bool:
    """Built-in and frozen modules come before any folder."""
    spec = getattr(sys.modules[name], "__spec__", None)
    return spec is not None and spec.origin not in (None, "built-in", "frozen")


def _has_module(folder: str, name: str) -> bool:
    if sys.flags.safe_path or sys.flags.isolated:
        return False
    return os.path.isfile(os.path.join(folder, f"{name}.py")) or os.path.isfile(
        os.path.join(folder, name, "__init__.py")
    )
