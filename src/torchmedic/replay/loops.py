"""The loop around a training step: found by frame and source, re-entered at the top of its body."""

from __future__ import annotations

import ast
import ctypes
import functools
import linecache
import sys
import warnings
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from torch import nn

from torchmedic.late import late_dataclass
from torchmedic.probes.source.frames import is_own_file, line_of

_MOST_PLACES = 1024


@late_dataclass(frozen=True)
class Loop:
    """A `for` or `while` statement of a file, with what its body binds.

    `carried` are names that the body reads before it binds them and binds before its end: their value at the top
    of the body must be put back before the body runs again. `targets` are those bound by the `for` itself, `kept` what
    is carried without them, `bound` all that the body binds.
    """

    line: int
    first: int
    last: int
    children: tuple[tuple[int, int], ...]
    carried: frozenset[str]
    targets: frozenset[str]
    target: ast.expr | None
    iterates_enumerate: bool
    body: tuple[ast.stmt, ...] = ()
    bound: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()

    def holds(self, line: int) -> bool:
        return self.first <= line <= self.last


def innermost_loop(code: CodeType, lines: tuple[int, ...]) -> Loop | None:
    """The innermost loop of a function whose body holds all the given lines."""
    scope = 0 if code.co_name == "<module>" else code.co_firstlineno
    fitting = [loop for at, loop in _loops(code.co_filename) if at == scope and all(loop.holds(n) for n in lines)]
    return max(fitting, key=lambda loop: loop.line, default=None)


@functools.lru_cache(maxsize=64)
def _loops(filename: str) -> tuple[tuple[int, Loop], ...]:
    """Every loop of a file with the first line of the function it stands in (0 for the module)."""
    try:
        # Not from the file: a notebook's cell has none.
        tree = ast.parse("".join(linecache.getlines(filename)))
    except (SyntaxError, ValueError):
        return ()
    found: list[tuple[int, Loop]] = []
    _collect(tree, 0, found)
    return tuple(found)


def _collect(node: ast.AST, scope: int, found: list[tuple[int, Loop]]) -> None:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            decorated = [d.lineno for d in child.decorator_list]
            _collect(child, min([child.lineno, *decorated]), found)
            continue
        if isinstance(child, (ast.For, ast.While, ast.AsyncFor)):
            found.append((scope, _loop(child)))
        _collect(child, scope, found)


def _loop(node: ast.For | ast.While | ast.AsyncFor) -> Loop:
    target = None if isinstance(node, ast.While) else node.target
    parts = ast.walk(target) if target is not None else ()
    targets = frozenset(n.id for n in parts if isinstance(n, ast.Name))
    carried = _carried(node.body)
    return Loop(
        line=node.lineno,
        first=node.body[0].lineno,
        last=max(statement.end_lineno or statement.lineno for statement in node.body),
        children=tuple((s.lineno, s.end_lineno or s.lineno) for s in node.body),
        carried=carried,
        targets=targets,
        target=target,
        iterates_enumerate=not isinstance(node, ast.While) and _is_enumerate(node.iter),
        body=tuple(node.body),
        bound=frozenset().union(*(_reads_and_writes(statement)[1] for statement in node.body)),
        kept=carried - targets,
    )


def _is_enumerate(iterable: ast.expr) -> bool:
    return isinstance(iterable, ast.Call) and isinstance(iterable.func, ast.Name) and iterable.func.id == "enumerate"


def _carried(body: list[ast.stmt]) -> frozenset[str]:
    """Names read before they are bound, and bound somewhere in the body."""
    bound: set[str] = set()
    read_first: set[str] = set()
    stored: set[str] = set()
    for statement in body:
        reads, writes = _reads_and_writes(statement)
        read_first |= reads - bound
        stored |= writes
        if not isinstance(statement, (ast.If, ast.For, ast.While, ast.Try)):
            bound |= writes
    return frozenset(read_first & stored)


def _reads_and_writes(statement: ast.stmt) -> tuple[set[str], set[str]]:
    reads: set[str] = set()
    writes: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Name):
            (reads if isinstance(node.ctx, ast.Load) else writes).add(node.id)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            reads.add(node.target.id)
    return reads, writes


def find_loop(frame: FrameType | None, must_hold: dict[int, int]) -> tuple[FrameType, Loop] | None:
    """The nearest frame whose loop holds the present line and the lines where the step's work was done.

    `must_hold` maps `id(frame)` to the instruction at which that frame stood during `backward`; frames of ours that
    have ended since may share their `id` with a newer one.
    """
    while frame is not None:
        instruction = must_hold.get(id(frame))
        if instruction is not None:
            loop = _loop_around(frame.f_code, frame.f_lasti, instruction)
            if loop is not None:
                return frame, loop
        frame = frame.f_back
    return None


# Kept with its code, so that no other code can have the same `id`.
_around: dict[tuple[int, int, int], tuple[CodeType, Loop | None]] = {}


def _loop_around(code: CodeType, now: int, then: int) -> Loop | None:
    """The innermost loop that holds two instructions, looked up once: hashing a code object costs too much."""
    key = (id(code), now, then)
    known = _around.get(key)
    if known is None:
        if len(_around) >= _MOST_PLACES:
            _around.clear()
        is_ours = is_own_file(code.co_filename)
        lines = (line_of(code, now), line_of(code, then))
        known = _around[key] = (code, None if is_ours else innermost_loop(code, lines))
    return known[1]


def forward_line(frame: FrameType, loop: Loop) -> int | None:
    """The first statement of the body that calls a module: where a step begins once its batch is drawn."""
    for statement in loop.body:
        if any(_calls_a_module(node, frame) for node in ast.walk(statement) if isinstance(node, ast.Call)):
            return statement.lineno
    return None


def _calls_a_module(call: ast.Call, frame: FrameType) -> bool:
    path: list[str] = []
    node: ast.expr = call.func
    while isinstance(node, ast.Attribute):
        path.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return False
    thing = frame.f_locals.get(node.id, frame.f_globals.get(node.id))
    for name in reversed(path):
        if isinstance(thing, nn.Module):
            return True
        thing = vars(thing).get(name) if hasattr(thing, "__dict__") else None
    return isinstance(thing, nn.Module)


def jump_to(
    line: int, frame: FrameType, loop: Loop, arrived: Callable[[], None], refused: Callable[[str], None]
) -> None:
    """Arrange that the frame goes to a line of the loop's body at its next statement of that body.

    Not inside the statement it is in: no `with` or `try` may be left open. `arrived` is called just before the
    body runs again. An existing trace function (a debugger, coverage) is put back afterwards.
    """
    before = sys.gettrace()
    own_before = frame.f_trace
    now = frame.f_lineno or 0
    tops = {start for start, end in loop.children if not start <= now <= end} | {loop.line}

    def give_back() -> None:
        frame.f_trace = own_before
        sys.settrace(before)

    def watch(f: FrameType, event: str, _arg: Any) -> Any:
        if f is not frame:
            return None
        if event == "return":
            give_back()
            refused("the function returned before the loop could be entered again")
            return None
        if event == "line" and f.f_lineno in tops:
            try:
                # A jump binds what was not bound, and says so, on 3.12 even of a comprehension's variable.
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", RuntimeWarning)
                    f.f_lineno = line  # type: ignore[misc]
            except ValueError as error:
                give_back()
                refused(str(error))
                return None
            give_back()
            arrived()
        return watch

    frame.f_trace = watch
    sys.settrace(lambda *_: None)


def read_names(frame: FrameType, names: frozenset[str]) -> dict[str, Any]:
    """Present values of some names of a frame, without leaving references behind."""
    values = frame.f_locals
    found = {name: values[name] for name in names if name in values}
    if frame.f_code.co_name != "<module>" and sys.version_info < (3, 13) and sys.gettrace() is None:
        # Up to 3.12 this dictionary stays with the frame and would keep every local alive. Under a trace function
        # it is written back into the frame, so there it must stay whole.
        values.clear()
    return found


def write_names(frame: FrameType, names: dict[str, Any]) -> None:
    """Rebind names in a running frame."""
    if not names:
        return
    if frame.f_code.co_name == "<module>":
        # Its `f_locals` is a copy as long as the variable of a comprehension is bound, which a jump does on 3.12.
        frame.f_globals.update(names)
        return
    values = frame.f_locals
    values.update(names)
    if sys.version_info < (3, 13):
        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))


def targets_from_batch(loop: Loop, batch: Any) -> dict[str, Any]:
    """What the `for` bound, worked out from the batch it was handed; `{}` where the pattern does not fit."""
    target = loop.target
    if loop.iterates_enumerate and isinstance(target, ast.Tuple) and len(target.elts) == 2:
        target = target.elts[1]
    bound: dict[str, Any] = {}
    return bound if target is not None and _bind(target, batch, bound) else {}


def _bind(target: ast.expr, value: Any, bound: dict[str, Any]) -> bool:
    if isinstance(target, ast.Name):
        bound[target.id] = value
        return True
    if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (tuple, list)):
        return len(target.elts) == len(value) and all(
            _bind(part, item, bound) for part, item in zip(target.elts, value, strict=True)
        )
    return False
