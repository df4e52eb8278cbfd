"""Finds the line of the user's own preparation where a value stopped being finite, in a second, silent run."""

from __future__ import annotations

import ast
import functools
import os
import sys
import time
from collections.abc import Callable
from dataclasses import field
from types import FrameType
from typing import Any

from torchmedic.facts import Birth, Operand
from torchmedic.late import late_dataclass
from torchmedic.probes.objects.values import tensor_summary
from torchmedic.probes.source.frames import is_user_file, location, outward
from torchmedic.record import Probe, Recorder
from torchmedic.replay.groups import groups_of
from torchmedic.replay.mending import LineTrial
from torchmedic.replay.tables import Spoiled, holds_numbers, spoiled, zero_labels

_DIVIDING = frozenset(("divide", "true_divide", "div", "div_", "divide_", "truediv"))
MOST_BIRTHS = 60
MOST_BACKWARDS = 64
SECONDS = 90.0


@late_dataclass()
class _Level:
    """A frame being watched: the line it is on, and which of its names are spoiled now."""

    line: int
    number: int
    bad: dict[str, Spoiled] = field(default_factory=dict)
    trial: LineTrial | None = None
    was_handed: bool = False  # something not finite came back from a call of this line
    left_by: tuple[int, LineTrial | None, bool] | None = None  # a `return` inside of `with` or `try`


class LineWatch:
    """Watches user lines while it is on: which one first left a NaN or infinity in a variable.

    Births that are mended again (`fillna`, `dropna`) before the end are struck out. `late` is called when it has been
    on for too long.
    """

    def __init__(self, late: Callable[[], None]) -> None:
        self._late = late
        self._levels: dict[int, _Level] = {}
        self._births: list[tuple[int, str, Birth]] = []
        self._entered = 0
        self._until = time.monotonic() + SECONDS

    def begin(self) -> None:
        """From here on, also in the functions that are running."""
        sys.settrace(self._enter)
        for frame in outward(sys._getframe(1)):
            if is_user_file(frame.f_code.co_filename):
                frame.f_trace = self._enter(frame, "call", None)

    def end(self) -> list[Birth]:
        """Stop watching; what was born and not mended."""
        sys.settrace(None)
        return [birth for _, _, birth in self._births]

    def _enter(self, frame: FrameType, event: str, _arg: Any) -> Any:
        if not is_user_file(frame.f_code.co_filename):
            return None
        self._look_at_arguments(frame)
        self._entered += 1  # frames come back at the same address: they are told apart by number
        self._levels[id(frame)] = _Level(line=frame.f_lineno or 0, number=self._entered)
        return self._within

    def _within(self, frame: FrameType, event: str, arg: Any) -> Any:
        if time.monotonic() > self._until:
            self._late()
        level = self._levels.setdefault(id(frame), _Level(line=frame.f_lineno or 0, number=0))
        if event in ("line", "return"):
            self._look(frame, level)
            if event == "return":
                self._look_at_return(frame, level, arg)
                self._levels.pop(id(frame), None)
        self._begin_line(frame, level, event)
        return self._within

    def _begin_line(self, frame: FrameType, level: _Level, event: str) -> None:
        if isinstance(_statement(frame.f_code.co_filename, level.line), ast.Return):
            # To leave a `with` goes back to its own line, and `finally` has lines of its own.
            level.left_by = level.line, level.trial, level.was_handed
        level.line, level.was_handed = frame.f_lineno or 0, False
        statement = _statement(frame.f_code.co_filename, level.line)
        level.trial = LineTrial(statement, frame.f_locals) if statement is not None and event == "line" else None

    def _look(self, frame: FrameType, level: _Level) -> None:
        """After a line: the names it bound or changed."""
        names = _touched(frame.f_code.co_filename, level.line)
        values = frame.f_locals
        for name in names:
            value = _value_of(name, values)
            found = spoiled(value, depth=3) if value is not None else None
            if found is None and value is not None and level.bad.pop(name, None) is not None:
                self._strike_out(level, name)
            elif found is not None and _is_new(level.bad.get(name), found):
                level.bad[name] = found
                self._note(frame, level, name, found, values)

    def _look_at_arguments(self, frame: FrameType) -> None:
        """What a line works out only to hand it to a function: that line is where it was made."""
        caller, outer = self._levels.get(id(frame.f_back)), frame.f_back
        if caller is None or outer is None or not _hands_expressions(outer.f_code.co_filename, caller.line):
            return
        for name in frame.f_code.co_varnames[: frame.f_code.co_argcount]:
            found = spoiled(frame.f_locals.get(name))
            if found is not None and found.holder != "number":
                self._note(outer, caller, name, found, outer.f_locals)

    def _look_at_return(self, frame: FrameType, level: _Level, value: Any) -> None:
        if level.left_by is not None and not isinstance(_statement(frame.f_code.co_filename, level.line), ast.Return):
            level.line, level.trial, level.was_handed = level.left_by
        found = spoiled(value, depth=3)
        if found is not None and not any(_explains(bad, found) for bad in level.bad.values()):
            self._note(frame, level, "the returned value", found, frame.f_locals)
        caller = self._levels.get(id(frame.f_back)) if found is not None else None
        if caller is not None:
            caller.was_handed = True
        if found is None and holds_numbers(value):
            self._births = [b for b in self._births if b[0] != level.number]

    def _strike_out(self, level: _Level, name: str) -> None:
        self._births = [b for b in self._births if not (b[0] == level.number and b[1] == name)]

    def _note(self, frame: FrameType, level: _Level, name: str, found: Spoiled, values: dict[str, Any]) -> None:
        if len(self._births) >= MOST_BIRTHS:
            return
        file, line = frame.f_code.co_filename, level.line
        statement = _statement(file, line)
        operands = _operands(statement, values, frame.f_globals, without=name)
        self._births.append(
            (
                level.number,
                name,
                Birth(
                    where=location(file, line, frame.f_code.co_qualname),
                    variable=name,
                    holder=found.holder,
                    columns=found.columns,
                    rows=found.rows,
                    bad=found.bad,
                    nan=found.nan,
                    total=found.total,
                    expression=_text(statement),
                    operator=_operators(statement),
                    operands=tuple(
                        Operand(name=n, tensor=s) for n, v in operands if (s := tensor_summary(_array(v))) is not None
                    ),
                    zero_at=tuple(f"{n}: {', '.join(labels)}" for n, v in operands if (labels := zero_labels(v))),
                    was_read=_reads_a_file(statement),
                    was_handed=level.was_handed,
                    groups=groups_of(statement, _worst(found), {**frame.f_globals, **values}),
                    helped=level.trial.helps(values, frame.f_globals, found) if level.trial is not None else "",
                ),
            )
        )


class Preparation(Probe):
    """Watches user lines until the sick step."""

    name = "preparation"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._lines = LineWatch(self._leave)
        self._backwards = 0
        self._steps_left = recorder.settings.until_step
        self._lines.begin()

    def remove(self) -> None:
        self._lines.end()

    def on_step(self, optimizer: Any, args: Any, kwargs: Any) -> Any:
        """The sick step has been reached: everything that matters has happened."""
        if self._steps_left is not None and self.recorder.step + 1 >= self._steps_left:
            self._leave()

    def on_backward(self, roots: Any) -> None:
        """A loop without an optimizer is left after a while: its steps are not counted."""
        if self._steps_left is not None and self.recorder.step + 1 >= self._steps_left:
            self._backwards += 1
            if self._backwards > MOST_BACKWARDS:
                self._leave()

    def on_finish(self) -> None:
        for birth in self._lines.end():
            self.recorder.observe(birth)

    def _leave(self) -> None:
        self.on_finish()
        self.recorder.flush()
        sys.stdout.flush()
        os._exit(0)


def _worst(found: Spoiled) -> tuple[str, ...]:
    """The rows that are infinite, which come first, or else all of those listed."""
    infinite = found.bad - found.nan
    return found.rows[:infinite] if infinite else found.rows


def _explains(before: Spoiled, now: Spoiled) -> bool:
    """Whether what a name holds may be behind what is returned: NaN does not turn into infinity."""
    return before.bad > before.nan or now.bad == now.nan


def _is_new(before: Spoiled | None, now: Spoiled) -> bool:
    """Spoiled for the first time, or in more places than before."""
    return before is None or now.bad > before.bad or now.columns != before.columns


@functools.lru_cache(maxsize=64)
def _statements(filename: str) -> dict[int, ast.stmt]:
    """The smallest statement on each line of a file."""
    try:
        with open(filename, "rb") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        return {}
    found: dict[int, ast.stmt] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            compound = isinstance(node, (ast.For, ast.While, ast.If, ast.With, ast.FunctionDef, ast.ClassDef, ast.Try))
            last = node.lineno if compound else node.end_lineno or node.lineno
            for line in range(node.lineno, last + 1):
                found[line] = node
    return found


def _statement(filename: str, line: int) -> ast.stmt | None:
    return _statements(filename).get(line)


@functools.lru_cache(maxsize=4096)
def _touched(filename: str, line: int) -> tuple[str, ...]:
    """Names that a statement binds, or whose object it may change (`df["c"] = …`, `x.clip_(…)`)."""
    statement = _statement(filename, line)
    if statement is None or isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)):
        return ()
    if isinstance(statement, (ast.For, ast.With, ast.While, ast.If)):
        heads: list[ast.AST] = [n for f, n in ast.iter_fields(statement) if f in ("target", "iter", "test") and n]
        heads += list(getattr(statement, "items", []))
    else:
        heads = [statement]
    names: dict[str, None] = {}
    for head in heads:
        for node in ast.walk(head):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names[node.id] = None
            elif isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
                names[_base(node)] = None
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                # Nothing is done with the result: the call changes what it is asked of, or something that it is given.
                given = (*node.value.args, *(each.value for each in node.value.keywords))
                names |= dict.fromkeys(map(_base, (node.value.func, *given)))
    return tuple(n for n in names if n)


@functools.lru_cache(maxsize=4096)
def _hands_expressions(filename: str, line: int) -> bool:
    """Whether a statement calls something with arithmetic in the call itself."""
    statement = _statement(filename, line)
    calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)] if statement is not None else []
    given = [argument for call in calls for argument in (*call.args, *(each.value for each in call.keywords))]
    return any(isinstance(node, ast.BinOp) for argument in given for node in ast.walk(argument))


def _base(node: ast.expr) -> str:
    """The name whose object an expression reaches into: `df` of `df["c"]`, `self.table` of `self.table["c"]`."""
    path: list[str] = []
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        path = [node.attr, *path] if isinstance(node, ast.Attribute) else []
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return f"{node.id}.{path[0]}" if path and node.id in ("self", "cls") else node.id


def _value_of(name: str, names: dict[str, Any], outer: dict[str, Any] | None = None) -> Any:
    """What a name, or an attribute of `self`, stands for; properties are not asked."""
    base, _, attribute = name.partition(".")
    value = names.get(base, (outer or {}).get(base))
    return getattr(value, "__dict__", {}).get(attribute) if attribute else value


def _operands(
    statement: ast.stmt | None, names: dict[str, Any], outer: dict[str, Any], without: str
) -> list[tuple[str, Any]]:
    """Arrays and tables that the statement reads, by name."""
    if statement is None:
        return []
    nodes = [n for n in ast.walk(statement) if isinstance(n, (ast.Name, ast.Attribute)) and isinstance(n.ctx, ast.Load)]
    read = dict.fromkeys(_base(n) for n in nodes)
    values = ((name, _value_of(name, names, outer)) for name in read if name and name != without)
    return [(name, value) for name, value in values if hasattr(value, "shape")][:6]


def _array(value: Any) -> Any:
    return value.to_numpy() if hasattr(value, "to_numpy") else value


def _operators(statement: ast.stmt | None) -> str:
    """Operators and functions of the statement, for the rules to reason about: `/ log shift`."""
    if statement is None:
        return ""
    found: dict[str, None] = {}
    for node in ast.walk(statement):
        if isinstance(node, (ast.BinOp, ast.AugAssign)):
            found[{ast.Div: "/", ast.Pow: "**", ast.Mod: "%", ast.FloorDiv: "//"}.get(type(node.op), "")] = None
        elif isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else _base(node.func)
            found |= dict.fromkeys((name, "/") if name in _DIVIDING else (name,))
    return " ".join(name for name in found if name)


def _reads_a_file(statement: ast.stmt | None) -> bool:
    return any(
        word.startswith(("read_", "load", "genfromtxt", "from_csv", "fromfile", "open"))
        for word in _operators(statement).split()
    )


def _text(statement: ast.stmt | None) -> str:
    if statement is None or isinstance(statement, (ast.For, ast.With, ast.While, ast.If, ast.FunctionDef)):
        return ""
    return ast.unparse(statement)[:200]
