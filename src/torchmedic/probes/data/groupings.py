"""Notes by which keys a script groups its tables, where the groups are then scaled by their spread."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from torchmedic.facts import NormalisedBy
from torchmedic.launch.imports import AfterImport, stop_waiting, wait_for_import
from torchmedic.probes.data.divisions import followed
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.source.frames import location, location_of, user_frame
from torchmedic.record import Probe, Recorder, shielded

_NAME = r"\"?[A-Za-z_]\w*\b\"?"
_KEYS_IN_SQL = re.compile(rf"(?:group|partition)\s+by\s+({_NAME}(?:\s*,\s*{_NAME})*)(?!\s*[(.,])", re.IGNORECASE)
_METHODS = {
    "pandas": ("DataFrame.groupby", "Series.groupby"),
    "polars": ("DataFrame.group_by", "LazyFrame.group_by", "Expr.over"),
    "duckdb": ("sql", "query", "execute", "DuckDBPyConnection.sql", "DuckDBPyConnection.execute"),
}


class Groupings(Probe):
    """Wraps the ways of pandas, polars and DuckDB to group rows. Several keys are joined by commas."""

    name = "groupings"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._seen: set[tuple[str, str, int]] = set()
        self._waiting: list[AfterImport | None] = []
        for module, names in _METHODS.items():
            self._waiting.append(wait_for_import(module, functools.partial(self._wrap_all, module, names)))

    def remove(self) -> None:
        self._patches.restore()
        for finder in self._waiting:
            stop_waiting(finder)

    def _wrap_all(self, module: str, names: tuple[str, ...]) -> None:
        keys_of: Callable[..., Iterator[str]] = {"pandas": _pandas_keys, "polars": _polars_keys, "duckdb": _sql_keys}[
            module
        ]
        for name in names:
            kind, _, leaf = name.rpartition(".")
            owner = getattr(sys.modules[module], kind, None) if kind else sys.modules[module]
            if hasattr(owner, leaf):
                self._wrap(owner, leaf, keys_of)

    def _wrap(self, owner: Any, name: str, keys_of: Callable[..., Iterator[str]]) -> None:
        original = getattr(owner, name)
        note = shielded(self)(self._note)

        @functools.wraps(original)
        def grouped(*args: Any, **kwargs: Any) -> Any:
            with frame_hidden:
                result = original(*args, **kwargs)
            note(keys_of, result, args, kwargs, user_frame(sys._getframe(1)))
            return result

        self._patches.replace(owner, name, grouped)

    def _note(
        self, keys_of: Callable[..., Iterator[str]], result: Any, args: Any, kwargs: Any, frame: FrameType | None
    ) -> None:
        if frame is None:
            return
        for key in keys_of(result, args, kwargs):
            place = (key, frame.f_code.co_filename, frame.f_lineno or 0)
            if place not in self._seen:
                self._seen.add(place)
                self._follow(key, frame)

    def _follow(self, key: str, frame: FrameType) -> None:
        file = frame.f_code.co_filename
        found = followed(file, frame.f_lineno or 0)
        if found is None or not found.spread:
            return
        divides = found.division is not None
        where = location(file, found.division, found.function) if found.division else location_of(frame)
        self.recorder.observe(NormalisedBy(key=key, where=where, divides=divides, named=tuple(found.named)[:200]))


def _pandas_keys(result: Any, _args: Any, _kwargs: Any) -> Iterator[str]:
    names = list(getattr(result, "_grouper", None).names)  # type: ignore[union-attr]
    if names and all(isinstance(name, str) for name in names):
        yield ",".join(names)


def _polars_keys(_result: Any, args: Any, kwargs: Any) -> Iterator[str]:
    given = [one for argument in args[1:] for one in (argument if isinstance(argument, list) else [argument])]
    given += [kwargs[name] for name in ("partition_by", "by") if isinstance(kwargs.get(name), str)]
    if given:
        yield ",".join(str(one if isinstance(one, str) else one.meta.output_name()) for one in given)


def _sql_keys(_result: Any, args: Any, _kwargs: Any) -> Iterator[str]:
    """Keys of a statement that takes a standard deviation or a variance."""
    text = next((argument for argument in args if isinstance(argument, str)), "")
    if re.search(r"stddev|var_|variance", text, re.IGNORECASE):
        yield from dict.fromkeys(re.sub(r"[\s\"]", "", keys) for keys in _KEYS_IN_SQL.findall(text))
