"""Looks at the tables that a script reads or makes for numbers that stand for missing values, such as -200 or -999."""

from __future__ import annotations

import ast
import functools
import os
import sys
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any

from torchmedic.facts import Location, MissingCode
from torchmedic.late import late_dataclass
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.objects.bindings import locals_of
from torchmedic.probes.source.expressions import enclosing_function, parsed
from torchmedic.probes.source.frames import is_user_file, location_of, outward, user_location
from torchmedic.probes.source.making_lines import line_made, variable_made
from torchmedic.probes.source.sources import user_files
from torchmedic.record import Probe, Recorder, shielded

_READERS = ("read_csv", "read_table", "read_parquet", "read_feather", "read_excel")
# What a script calls on a table that still holds them, the line to edit first: those that look for NaN.
_METHODS = ("dropna", "fillna", "interpolate", "std")
_MADE = "made"
_BEST_FIRST = ("read", *_METHODS[:-1], _MADE, "std")
_SECONDS = 2.0  # for all looks together
_USUAL = frozenset((-9.0, -99.0, -200.0, -999.0, -9999.0, -99999.0, -32768.0, 999.0, 9999.0, 99999.0, 1e20, -1e20))
_LEAST_ROWS, _MOST_ROWS, _MOST_COLUMNS = 50, 200_000, 300
_LEAST_SHARE, _LEAST_TIMES = 0.005, 5
_LEAST_KINDS = 10
_SAME_IN_COLUMNS = 3
_MOST_NAMES = 3  # from a number to the name under which it is compared
_HANDLING = frozenset(
    (
        *(*_READERS, "replace", "mask", "where", "isin", "clip", "between", "masked_values", "masked_equal"),
        *("clamp", "isclose", "eq", "ne"),
    )
)


@late_dataclass()
class _Found:
    """One number that looks like a code, with the share of each column that it fills."""

    path: str
    where: Location | None
    value: float
    shares: dict[str, float]
    columns: frozenset[str]
    seen: str
    table: str

    def used(self, words: set[str]) -> dict[str, float]:
        """A script that names columns of a table uses those; one that names none uses all."""
        is_choosy = bool(words & self.columns)
        return {name: share for name, share in self.shares.items() if name in words or not is_choosy}


class MissingCodes(Probe):
    """What was found is told when training begins, unless the script's own text handles the number."""

    name = "missing-codes"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._found: list[_Found] = []
        import pandas

        for name in _READERS:
            if hasattr(pandas, name):
                self._watch(pandas, name)
        self._spent = 0.0
        for owner in (pandas.DataFrame, pandas.Series):
            for name in _METHODS:
                self._watch_method(owner, name)

    def remove(self) -> None:
        self._patches.restore()

    def _watch(self, owner: Any, name: str) -> None:
        original = getattr(owner, name)
        look = shielded(self)(self._look)

        @functools.wraps(original)
        def read(*args: Any, **kwargs: Any) -> Any:
            with frame_hidden:
                table = original(*args, **kwargs)
            if hasattr(table, "select_dtypes") and self.recorder.is_ours and not self.recorder.step:
                look(table, user_location(), source=args[0] if args else "")
            return table

        self._patches.replace(owner, name, read)

    def _watch_method(self, owner: Any, name: str) -> None:
        original = getattr(owner, name)
        look = shielded(self)(self._look)

        @functools.wraps(original)
        def called(table: Any, *args: Any, **kwargs: Any) -> Any:
            frame = sys._getframe(1)
            if not self.recorder.step and self.recorder.is_ours and is_user_file(frame.f_code.co_filename):
                look(table.to_frame() if table.ndim == 1 else table, location_of(frame), seen=name)
            with frame_hidden:
                return original(table, *args, **kwargs)

        self._patches.replace(owner, name, called)

    def _look(
        self, table: Any, where: Location | None, *, source: Any = "", seen: str = "read", name: str = ""
    ) -> None:
        path = os.fspath(source) if isinstance(source, (str, os.PathLike)) else ""
        if self._spent > _SECONDS and seen != "read":
            return
        began = time.perf_counter()
        by_value: dict[float, dict[str, float]] = {}
        for column, values in _numbers(table):
            for value, share in codes_in(values):
                by_value.setdefault(value, {})[column] = share
        for value, shares in by_value.items():
            if value in _USUAL or (len(shares) >= _SAME_IN_COLUMNS and seen == "read"):
                self._add(_Found(str(path), where, value, shares, frozenset(map(str, table.columns)), seen, name))
        self._spent += time.perf_counter() - began

    def _add(self, found: _Found) -> None:
        """A line that goes through the columns of a table one by one is told with all of them."""
        same = (each for each in self._found if each.seen != "read")
        before = next((e for e in same if (e.where, e.value, e.seen) == (found.where, found.value, found.seen)), None)
        if before is None:
            self._found.append(found)
        else:
            before.shares |= found.shares
            before.columns |= found.columns

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.recorder.rest(self)
        for name, table, where in _tables_held(sys._getframe(1)):
            self._look(table, where, seen=_MADE, name=name)
        if not self._found:
            return
        handled, words = known_to_script()
        for found in _told_best(self._found):
            shares = found.used(words)
            if shares and abs(found.value) not in handled:
                self.recorder.observe(
                    MissingCode(
                        step=self.recorder.step,
                        where=found.where,
                        path=os.path.basename(found.path),
                        value=found.value,
                        columns=tuple(shares),
                        shares=tuple(shares.values()),
                        seen=found.seen,
                        table=found.table,
                    )
                )
        self._found.clear()


def _told_best(found: list[_Found]) -> Iterator[_Found]:
    """Of the lines at which one number was seen, those where it is best put right."""
    for value in dict.fromkeys(each.value for each in found):
        same = [each for each in found if each.value == value]
        best = min((each.seen for each in same), key=_BEST_FIRST.index)
        yield from (each for each in same if each.seen == best)


def _tables_held(frame: FrameType | None) -> Iterator[tuple[str, Any, Location | None]]:
    """The tables that names of the user's running functions and of their modules stand for."""
    for each in outward(frame):
        file = each.f_code.co_filename
        tree = parsed(file) if is_user_file(file) else None
        for name, thing in list(locals_of(each).items()) if tree is not None else ():
            if type(thing).__name__ == "DataFrame" and hasattr(thing, "select_dtypes") and tree is not None:
                yield name, thing, line_made(variable_made(file, enclosing_function(tree, each), name))


def _numbers(table: Any) -> list[tuple[str, Any]]:
    """The columns of real numbers, without their missing values."""
    if len(table) < _LEAST_ROWS:
        return []
    chosen = table.select_dtypes("number").iloc[:_MOST_ROWS, :_MOST_COLUMNS]
    return [(str(name), chosen[name].dropna().to_numpy(dtype="float64")) for name in dict.fromkeys(chosen.columns)]


def codes_in(values: Any) -> list[tuple[float, float]]:
    """Ends of a column that occur again and again, far from everything else, each with its share."""
    found = []
    for end in {float(values.min()), float(values.max())} if values.size else ():
        rest = values[values != end]
        times = values.size - rest.size
        if times < max(_LEAST_TIMES, _LEAST_SHARE * values.size) or len(set(rest[:5000].tolist())) < _LEAST_KINDS:
            continue
        low, high = float(rest.min()), float(rest.max())
        gap = low - end if end < low else end - high
        of_other_sign = end < 0 <= low and gap > (high - low) / 4
        if gap > high - low or of_other_sign:
            found.append((end, times / values.size))
    return found


def known_to_script() -> tuple[set[float], set[str]]:
    """The numbers (without their sign) that the user's own files compare with or replace, and the texts in them."""
    handled: set[float] = set()
    words: set[str] = set()
    for file in user_files():
        tree = parsed(file)
        if tree is not None:
            handled |= handled_numbers(tree)
            words |= {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    return handled, words


def handled_numbers(tree: ast.AST) -> set[float]:
    """Numbers that a comparison or a call such as `replace` names, by themselves or by a variable.

    >>> sorted(handled_numbers(ast.parse("GAP = -9\nt[t < -99] = 0\nt.replace(GAP, 0)\nt.x = -200")))
    [0.0, 9.0, 99.0]
    """
    named = _named_numbers(tree)
    found: set[float] = set()
    for node in ast.walk(tree):
        is_call = isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in _HANDLING
        if is_call or isinstance(node, ast.Compare):
            found |= _numbers_under(node)
            found |= {number for inner in ast.walk(node) for number in named.get(_word(inner), ())}
    return found


def _named_numbers(tree: ast.AST) -> dict[str, set[float]]:
    """The numbers that a variable, an attribute or a parameter of some name is given, directly or by another name."""
    given: list[tuple[str, ast.AST]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            given += [(_word(target), node.value) for target in node.targets]
        elif isinstance(node, ast.keyword) and node.arg:
            given.append((node.arg, node.value))
        elif isinstance(node, ast.arguments):
            given += [(a.arg, d) for a, d in zip(node.args[::-1], node.defaults[::-1], strict=False)]
            given += [(a.arg, d) for a, d in zip(node.kwonlyargs, node.kw_defaults, strict=True) if d is not None]
    named: dict[str, set[float]] = {}
    for _ in range(_MOST_NAMES):
        for word, value in given:
            if word:
                named.setdefault(word, set()).update(_numbers_under(value) | named.get(_word(value), set()))
    return named


def _word(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _numbers_under(tree: ast.AST) -> set[float]:
    values = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return {abs(float(value)) for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)}
