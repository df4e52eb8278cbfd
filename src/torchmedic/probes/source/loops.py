"""The loops of a file: what their bodies bind, what stands behind them, and how a running frame is led there."""

from __future__ import annotations

import ast
import functools
import linecache
import sys
import warnings
from collections.abc import Callable, Container, Iterator
from types import CodeType, FrameType
from typing import Any

from torchmedic.late import late_dataclass

_LOOPS = (ast.For, ast.While, ast.AsyncFor)


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
    found: list[tuple[int, Loop]] = []
    _collect(_tree(filename), 0, found)
    return tuple(found)


def _tree(filename: str) -> ast.Module:
    try:
        # Not from the file: a notebook's cell has none.
        return ast.parse("".join(linecache.getlines(filename)))
    except (SyntaxError, ValueError):
        return ast.Module([], [])


def line_behind(filename: str, loop: Loop) -> int:
    """Where the program goes when the loop is over, 0 where no statement of the same function can be gone to.

    Behind the last statement of another loop comes what is behind that one: its body is not to begin again. A `with`
    has to be left by itself.
    """
    return _behind(_tree(filename).body, 0, loop.line) or 0


def _behind(block: list[ast.stmt], after: int, line: int) -> int | None:
    """What comes behind the loop of a line, if it lies in this block; `after` is what comes behind the block."""
    for statement, following in zip(block, [*(_begin(s) for s in block[1:]), after], strict=False):
        if isinstance(statement, _LOOPS) and statement.lineno == line:
            return _begin(statement.orelse[0]) if statement.orelse else following
        for inner, behind in _blocks(statement, following):
            found = _behind(inner, behind, line)
            if found is not None:
                return found
    return None


def _begin(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(one.lineno for one in decorators)])


def _blocks(statement: ast.stmt, following: int) -> Iterator[tuple[list[ast.stmt], int]]:
    """The blocks of a statement, each with what comes behind it."""
    orelse: list[ast.stmt] = getattr(statement, "orelse", [])
    if isinstance(statement, ast.Try):
        final = statement.finalbody
        end = _begin(final[0]) if final else following
        yield statement.body, _begin(orelse[0]) if orelse else end
        yield orelse, end
        yield final, 0
        yield from ((handler.body, 0) for handler in statement.handlers)
        return
    is_open = isinstance(statement, (ast.If, *_LOOPS))
    behind_body = _begin(orelse[0]) if orelse and isinstance(statement, _LOOPS) else following
    yield getattr(statement, "body", []), behind_body if is_open else 0
    yield orelse, following
    yield from ((case.body, following) for case in getattr(statement, "cases", ()))


def _collect(node: ast.AST, scope: int, found: list[tuple[int, Loop]]) -> None:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            decorated = [d.lineno for d in child.decorator_list]
            _collect(child, min([child.lineno, *decorated]), found)
            continue
        if isinstance(child, _LOOPS):
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


def tops_of(loop: Loop, line: int) -> set[int]:
    """Lines where the loop or another statement of its body than that of `line` begins: no `with` or `try` is open."""
    return {start for start, end in loop.children if not start <= line <= end} | {loop.line}


def jump_to(
    line: int, frame: FrameType, tops: Container[int], arrived: Callable[[], None], refused: Callable[[str], None]
) -> None:
    """Arrange that the frame goes to a line when it comes to one of `tops`.

    `arrived` is called just before that line runs. An existing trace function (a debugger, coverage) is put back
    afterwards.
    """
    before = sys.gettrace()
    own_before = frame.f_trace

    def give_back() -> None:
        frame.f_trace = own_before
        sys.settrace(before)

    def watch(f: FrameType, event: str, _arg: Any) -> Any:
        if f is not frame:
            return None
        if event == "return":
            give_back()
            refused("the function returned before it came to a statement of the loop")
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
