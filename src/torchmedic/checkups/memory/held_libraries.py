"""Libraries that open files in code of their own, led to the overlay at the place where Python hands them a path."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Any

from torchmedic.checkups.memory.held_files import lead
from torchmedic.checkups.memory.overlay import Overlay


def lead_libraries(overlay: Overlay | None, after_import: Callable[[str, Callable[[], None]], None]) -> None:
    """Register what has to change once a library is there."""
    if overlay is None:
        return
    libraries = _Libraries(overlay)
    after_import("safetensors", libraries.lead_safetensors)
    after_import("sqlite3", libraries.lead_sqlite)
    after_import("pyarrow", libraries.lead_arrow)
    after_import("pyarrow.parquet.core", libraries.lead_parquet)
    after_import("h5py", libraries.lead_hdf5)


class _Libraries:
    """Functions that call a library's own with another path."""

    def __init__(self, overlay: Overlay) -> None:
        self._overlay = overlay

    def read(self, true: Any, path: Any, *args: Any, **kwargs: Any) -> Any:
        return true(self._overlay.seen(path), *args, **kwargs)

    def write(self, true: Any, path: Any, *args: Any, **kwargs: Any) -> Any:
        return true(self._overlay.changed(path, keep=True), *args, **kwargs)

    def by_mode(self, true: Any, path: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        reads = mode in ("r", "rb")
        place = self._overlay.seen(path) if reads else self._overlay.changed(path, keep="w" not in mode)
        return true(place, mode, *args, **kwargs)

    def lead_safetensors(self) -> None:
        def write(true: Any, things: Any, filename: Any, *args: Any, **kwargs: Any) -> Any:
            return true(things, self._overlay.changed(filename, keep=False), *args, **kwargs)

        for library in [sys.modules[name] for name in ("safetensors", "safetensors.torch") if name in sys.modules]:
            lead(self._overlay, "safe_open", self.read, library)
            library.serialize_file = functools.partial(write, library.serialize_file)  # type: ignore[attr-defined]

    def lead_sqlite(self) -> None:
        def connect(true: Any, path: Any, *args: Any, **kwargs: Any) -> Any:
            if str(path).startswith(("file:", ":memory:")) or not path:
                return true(path, *args, **kwargs)
            return self.write(true, path, *args, **kwargs)

        for name in ("sqlite3", "sqlite3.dbapi2"):
            lead(self._overlay, "connect", connect, sys.modules[name])

    def lead_arrow(self) -> None:
        arrow: Any = sys.modules["pyarrow"]
        true, by_mode = arrow.OSFile, self.by_mode

        class OSFile(true):  # type: ignore[misc, valid-type]
            def __new__(cls, *args: Any, **kwargs: Any) -> Any:
                return by_mode(functools.partial(true.__new__, cls), *args, **kwargs)

        arrow.OSFile = OSFile
        lead(self._overlay, "memory_map", self.read, arrow)

    def lead_parquet(self) -> None:
        parquet = sys.modules["pyarrow.parquet.core"]
        for name, act in (("ParquetWriter", self.write), ("ParquetFile", self.read), ("ParquetDataset", self.read)):
            _lead_class(getattr(parquet, name), act)

    def lead_hdf5(self) -> None:
        _lead_class(sys.modules["h5py"].File, self.by_mode)


def _lead_class(owner: Any, act: Callable[..., Any]) -> None:
    """Lead the first argument of a class where it is a path: what was opened before is handed on as it is."""
    build = owner.__init__

    @functools.wraps(build)
    def init(self: Any, path: Any, *args: Any, **kwargs: Any) -> None:
        if isinstance(path, (str, os.PathLike)) and kwargs.get("filesystem") is None:
            act(functools.partial(build, self), path, *args, **kwargs)
        else:
            build(self, path, *args, **kwargs)

    owner.__init__ = init
