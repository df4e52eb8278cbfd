"""Which columns of pandas tables are taken as arrays, before the training begins."""

from __future__ import annotations

import ast
import functools
import inspect
import sys
from dataclasses import replace
from types import FrameType
from typing import Any

from torchmedic.facts import Location, TableTaken
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.source.expressions import parsed
from torchmedic.probes.source.frames import is_user_file, location_of, user_frame
from torchmedic.probes.source.making_lines import Place, line_made, scope_around
from torchmedic.probes.source.sources import file_at
from torchmedic.record import Probe, Recorder, shielded

_MOST_NOTED = 60
_MOST_COLUMNS = 200
_ARRAY = "__array__"


class TableArrays(Probe):
    """Notes `values`, `to_numpy` and what NumPy itself asks for, of tables and of their columns."""

    name = "table-arrays"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        import pandas

        self._patches = Patches()
        self._noted: dict[tuple[Any, int, tuple[str, ...]], TableTaken] = {}
        for owner in (pandas.DataFrame, pandas.Series):
            self._watch_values(owner)
            for name in ("to_numpy", _ARRAY):
                self._watch(owner, name)

    def remove(self) -> None:
        self._patches.restore()

    def on_finish(self) -> None:
        if self.recorder.step:
            for fact in self._noted.values():
                self.recorder.observe(replace(fact, chosen=_chosen(fact.where)))

    def _listens(self) -> bool:
        return self.recorder.step == 0 and self.recorder.is_ours and len(self._noted) < _MOST_NOTED

    def _watch(self, owner: Any, name: str) -> None:
        original = getattr(owner, name)
        note = shielded(self)(self._note)

        @functools.wraps(original)
        def taken(table: Any, *args: Any, **kwargs: Any) -> Any:
            if self._listens():
                caller: FrameType | None = sys._getframe(1)
                # scikit-learn asks for the array of what it was given; pandas asks itself, for many reasons.
                if name == _ARRAY and caller is not None and "pandas" not in caller.f_code.co_filename:
                    caller = user_frame(caller)
                if caller is not None and is_user_file(caller.f_code.co_filename):
                    note(table, caller)
            with frame_hidden:
                return original(table, *args, **kwargs)

        self._patches.replace(owner, name, taken)

    def _watch_values(self, owner: Any) -> None:
        original = inspect.getattr_static(owner, "values")
        note = shielded(self)(self._note)

        def values(table: Any) -> Any:
            caller = sys._getframe(1)
            if self._listens() and is_user_file(caller.f_code.co_filename):
                note(table, caller)
            with frame_hidden:
                return original.__get__(table)

        self._patches.replace(owner, "values", property(values, doc=original.__doc__))

    def _note(self, table: Any, frame: FrameType) -> None:
        columns = tuple(map(str, table.columns)) if table.ndim == 2 else (str(table.name),)
        if len(columns) <= _MOST_COLUMNS:
            key = (frame.f_code, frame.f_lineno or 0, columns)
            self._noted.setdefault(key, TableTaken(step=0, where=location_of(frame), columns=columns, rows=len(table)))


def _chosen(taken: Location) -> Location | None:
    """The line of the list in `table[columns]`, where it is a variable."""
    file = file_at(taken)
    tree = parsed(file) if file else None
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Subscript) and node.lineno == taken.line and isinstance(node.slice, ast.Name):
            made = line_made(Place(file, scope_around(tree, node), node.slice)) if tree is not None else None
            return made if made is not None and made.line != taken.line else None
    return None
