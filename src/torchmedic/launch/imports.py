"""Calls back once, right after a module has been imported by the script."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from torchmedic.probes.events.patching import hide_frame

# Not imported at run time: `importlib.abc` draws in as much as all of torchmedic.
if TYPE_CHECKING:
    import importlib.abc
    import importlib.machinery


class AfterImport:
    """A finder that lets the others find a module, and runs a callback when it has been executed."""

    def __init__(self, name: str, callback: Callable[[], object]) -> None:
        self._name = name
        self._callback = callback
        self._busy = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._name or self._busy:
            return None
        self._busy = True
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._busy = False
        if spec is not None and spec.loader is not None:
            self._wrap(spec.loader)
        return spec

    def _wrap(self, loader: importlib.abc.Loader) -> None:
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            try:
                execute(module)
            except BaseException as error:
                hide_frame(error)
                raise
            vars(loader).pop("exec_module", None)  # a reload is not a first import
            if self in sys.meta_path:
                sys.meta_path.remove(self)
                self._callback()

        loader.exec_module = exec_module  # type: ignore[method-assign]


def after_import(name: str, callback: Callable[[], None]) -> None:
    """Run `callback` once the module is there: now, or when the script imports it."""
    wait_for_import(name, callback)


def wait_for_import(name: str, callback: Callable[[], object]) -> AfterImport | None:
    """As `after_import`; gives back what waits, if it has to, for `stop_waiting`."""
    if name in sys.modules:
        callback()
        return None
    finder = AfterImport(name, callback)
    sys.meta_path.insert(0, finder)
    return finder


def stop_waiting(finder: AfterImport | None) -> None:
    if finder in sys.meta_path:
        sys.meta_path.remove(finder)
