"""Whether a data set changes what it holds when its rows are read, so that every epoch finds other data."""

from __future__ import annotations

import ast
import contextlib
import weakref
from collections.abc import Iterator
from dataclasses import field
from typing import Any, NamedTuple

import numpy as np
import torch

from torchmedic.facts import Location, RowsRewritten
from torchmedic.late import late_dataclass
from torchmedic.probes.events.loaders import base_of
from torchmedic.probes.source.expressions import parsed
from torchmedic.probes.source.frames import file_of, is_user_file, location
from torchmedic.probes.source.sources import user_files
from torchmedic.record import Probe, Recorder

_ROWS = 8
_MOST_BYTES = 1 << 20  # of one row
_MOST_DATASETS = 4
_MOST_LOOKS = 4
_LEAST_CHANGES = 2
_MOST_CALLS = 3  # from `__getitem__` down to the function that writes
_SHARING = frozenset(("from_numpy", "as_tensor", "asarray", "view", "reshape", "squeeze", "unsqueeze", "T", "flatten"))


@late_dataclass()
class _Row:
    """One row of an attribute: what it held at each look, and how often running it was found changed."""

    number: int
    values: np.ndarray[Any, Any]
    first: list[float] = field(default_factory=list)
    changes: int = 0

    def look(self, now: np.ndarray[Any, Any]) -> None:
        if self.values.shape != now.shape or np.array_equal(self.values, now, equal_nan=now.dtype.kind == "f"):
            self.changes = 0
            return
        at = int(np.flatnonzero(self.values.ravel() != now.ravel())[0])
        self.first = [*(self.first or [float(self.values.ravel()[at])]), float(now.ravel()[at])]
        self.values = now.copy()
        self.changes += 1


@late_dataclass()
class _Kept:
    """A data set that is looked at: weakly held, because its owner may want its memory back."""

    dataset: weakref.ref[Any]
    kind: type
    attributes: dict[str, list[_Row]]
    looks: int = 0

    def look(self, dataset: Any) -> None:
        if self.looks < _MOST_LOOKS:
            self.looks += 1
            for attribute, rows in self.attributes.items():
                for row in rows:
                    now = _row(vars(dataset).get(attribute), row.number)
                    if now is not None:
                        row.look(now)


class RowsChanged(Probe):
    """Keeps a few rows of a data set that is read in this process, and looks at them again whenever a pass begins."""

    name = "rows-changed"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._kept: list[_Kept] = []

    def on_batch(self, batch: Any, iterator: Any) -> None:
        # Workers change copies of their own, which are gone with them.
        if self.recorder.clock_is_held or iterator._num_workers or getattr(iterator, "_num_yielded", 0) != 1:
            return
        dataset = base_of(iterator._dataset)
        kept = next((one for one in self._kept if one.dataset() is dataset), None)
        if kept is not None:
            kept.look(dataset)
        elif len(self._kept) < _MOST_DATASETS and is_user_file(file_of(type(dataset))):
            with contextlib.suppress(TypeError):  # a class with slots and no place for weak references
                self._kept.append(_Kept(weakref.ref(dataset), type(dataset), dict(_rows_of(dataset))))

    def on_finish(self) -> None:
        for kept in self._kept:
            for attribute, rows in kept.attributes.items():
                changed = [row for row in rows if row.changes >= _LEAST_CHANGES]
                where = writing_line(kept.kind, attribute) if len(changed) > 1 else None
                if where is not None:
                    self.recorder.observe(
                        RowsRewritten(
                            dataset=kept.kind.__name__,
                            attribute=attribute,
                            row=changed[0].number,
                            values=tuple(changed[0].first[:4]),
                            changed=len(changed),
                            watched=len(rows),
                            where=where,
                        )
                    )


def _rows_of(dataset: Any) -> Iterator[tuple[str, list[_Row]]]:
    """A few rows of every attribute that has as many of them as the data set."""
    try:
        count = len(dataset)
        attributes = list(vars(dataset).items())
    except (TypeError, NotImplementedError):
        return
    for name, held in attributes:
        has_rows = isinstance(held, list) or (isinstance(held, (torch.Tensor, np.ndarray)) and held.ndim > 0)
        if has_rows and len(held) == count > 1:
            numbers = range(0, count, -(-count // _ROWS))
            rows = [_Row(n, values.copy()) for n in numbers if (values := _row(held, n)) is not None]
            if rows:
                yield name, rows


def _row(held: Any, number: int) -> np.ndarray[Any, Any] | None:
    """A row as an array that shares its memory; None for what is no row of numbers."""
    try:
        row = held[number]
    except (IndexError, TypeError, KeyError):
        return None
    if isinstance(row, torch.Tensor) and row.device.type == "cpu" and row.layout == torch.strided:
        row = row.detach().numpy() if row.dtype != torch.bfloat16 else None
    is_numbers = isinstance(row, np.ndarray) and row.dtype.kind in "fiu" and 0 < row.nbytes <= _MOST_BYTES
    return row if is_numbers and isinstance(row, np.ndarray) else None


# -- the line that writes ---------------------------------------------------------------------------------------------


class _Function(NamedTuple):
    file: str
    name: str
    node: ast.FunctionDef


def writing_line(kind: type, attribute: str) -> Location | None:
    """The line of `__getitem__`, or of a function it hands a row to, that writes into the row in place."""
    found = (_line_in(kind, attribute, reading, set()) for reading in _methods(kind, "__getitem__"))
    return next((line for line in found if line is not None), None) or _transform_that_writes()


def _line_in(kind: type, attribute: str, function: _Function, given: set[str], depth: int = 0) -> Location | None:
    """Where a function writes into a row: itself, or in a function that it calls with one."""
    names = _aliases(function.node, attribute, given)
    line = next(_writes(function.node, names, attribute), None)
    if line is not None:
        return location(function.file, line, function.name)
    for call in (node for node in ast.walk(function.node) if isinstance(node, ast.Call) and depth < _MOST_CALLS):
        for called in _called(kind, call):
            taken = _parameters_with_rows(call, called.node, names, attribute)
            found = _line_in(kind, attribute, called, taken, depth + 1) if taken else None
            if found is not None:
                return found
    return None


def _called(kind: type, call: ast.Call) -> Iterator[_Function]:
    """The user's functions that a call may mean: a method of the data set, or functions of that name."""
    if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name) and call.func.value.id == "self":
        yield from _methods(kind, call.func.attr)
    elif isinstance(call.func, ast.Name):
        for file in user_files():
            tree = parsed(file) or ast.Module([], [])
            defined = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == call.func.id]
            yield from (_Function(file, node.name, node) for node in defined)


def _methods(kind: type, name: str) -> Iterator[_Function]:
    """The method of that name, as the class or a base of it in the user's files defines it."""
    for owner in kind.__mro__:
        file = file_of(owner)
        tree = parsed(file) if is_user_file(file) else None
        for cls in ast.walk(tree) if tree is not None else ():
            if isinstance(cls, ast.ClassDef) and cls.name == owner.__name__:
                own = [node for node in cls.body if isinstance(node, ast.FunctionDef) and node.name == name]
                yield from (_Function(file, f"{owner.__qualname__}.{name}", node) for node in own)


def _parameters_with_rows(call: ast.Call, called: ast.FunctionDef, names: set[str], attribute: str) -> set[str]:
    """What the called function names the rows that it is given."""
    parameters = [argument.arg for argument in called.args.args]
    if parameters[:1] == ["self"]:
        parameters = parameters[1:]
    given = {name for name, value in zip(parameters, call.args, strict=False) if _is_row(value, names, attribute)}
    return given | {k.arg for k in call.keywords if k.arg is not None and _is_row(k.value, names, attribute)}


def _transform_that_writes() -> Location | None:
    """The only function of the user's that is called like a transform and writes into what it is given."""
    found = []
    for file in user_files():
        for node in ast.walk(parsed(file) or ast.Module([], [])):
            if isinstance(node, ast.FunctionDef) and (node.name == "__call__" or "transform" in node.name):
                given = {argument.arg for argument in node.args.args} - {"self"}
                line = next(_writes(node, given, ""), None)
                found += [location(file, line, node.name)] if line is not None else []
    return found[0] if len(found) == 1 else None


def _aliases(function: ast.FunctionDef, attribute: str, given: set[str]) -> set[str]:
    """Names that stand for a row of `self.attribute` without a copy of it; `given` are those of its parameters."""
    names = set(given)
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and _is_row(node.value, names, attribute):
            targets = [t for target in node.targets for t in ast.walk(target)]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Tuple)
            and isinstance(node.targets[0], ast.Tuple)
        ):
            pairs = zip(node.targets[0].elts, node.value.elts, strict=False)
            names |= {t.id for t, v in pairs if isinstance(t, ast.Name) and _is_row(v, names, attribute)}
    return names


def _is_row(value: ast.expr, names: set[str], attribute: str) -> bool:
    if isinstance(value, ast.Subscript):
        return _is_held(value.value, attribute) or _is_row(value.value, names, attribute)
    if isinstance(value, ast.Name):
        return value.id in names
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _SHARING:
        inner = value.args[0] if value.args and isinstance(value.func.value, ast.Name) else value.func.value
        return _is_row(inner, names, attribute) or _is_row(value.func.value, names, attribute)
    return False


def _is_held(value: ast.expr, attribute: str) -> bool:
    return isinstance(value, ast.Attribute) and value.attr == attribute and isinstance(value.value, ast.Name)


def _writes(function: ast.FunctionDef, names: set[str], attribute: str) -> Iterator[int]:
    """Lines that write into one of the names, or into a row of the attribute itself, in the order of the source."""
    for node in sorted((n for n in ast.walk(function) if isinstance(n, ast.stmt)), key=lambda n: n.lineno):
        if isinstance(node, ast.AugAssign) and _is_row(_base(node.target), names, attribute):
            yield node.lineno
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(target, ast.Subscript) and _is_row(target.value, names, attribute):
            yield node.lineno
        called = node.value if isinstance(node, (ast.Expr, ast.Assign, ast.Return)) else None
        if isinstance(called, ast.Call) and isinstance(called.func, ast.Attribute):
            in_place = called.func.attr.endswith("_") and not called.func.attr.endswith("__")
            if in_place and _is_row(called.func.value, names, attribute):
                yield node.lineno


def _base(target: ast.expr) -> ast.expr:
    """`row` of `row[0] += 1`; `self.x[i]` stays as it is."""
    return target.value if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) else target
