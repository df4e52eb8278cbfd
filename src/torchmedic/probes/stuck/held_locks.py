"""Who holds the lock that a thread waits for: the frames of all threads tell, by the blocks they are in."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from types import FrameType

from torchmedic.facts import Location
from torchmedic.probes.source.expressions import MISSING, enclosing_function, parsed, peek
from torchmedic.probes.source.frames import is_user_file, location, outward, shown_path

_With = ast.With | ast.AsyncWith


def holder_of(waiting: int, frames: dict[int, FrameType]) -> tuple[int, Location] | None:
    """The thread that took the lock which another one waits for, and where it did; the waiting one is asked first."""
    inner = next((f for f in outward(frames.get(waiting)) if is_user_file(f.f_code.co_filename)), None)
    lock = _awaited(inner) if inner is not None else MISSING
    if inner is None or lock is MISSING:
        return None
    for ident in sorted(frames, key=lambda one: one != waiting):
        for frame in outward(frames[ident]):
            taken = _taken_in(frame, lock, but=frame.f_lineno if frame is inner else 0)
            if taken:
                return ident, location(frame.f_code.co_filename, taken, frame.f_code.co_qualname)
    return None


def taker_of_same(waiting: Location, frames: dict[int, FrameType]) -> tuple[int, Location] | None:
    """The thread of this process that takes what a line of a forked one waits for, and where; one that holds it first.

    The lock of the other process is a copy: both are known by what the program calls them.
    """
    wanted = _named_at(waiting)
    user = [(i, f) for i, frame in frames.items() for f in outward(frame) if is_user_file(f.f_code.co_filename)]
    same = [(i, f) for i, f in user if wanted and shown_path(f.f_code.co_filename) == waiting.file]
    found = [
        (i, f, line)
        for i, f in same
        for line, node in _takings(f)
        if ast.unparse(node) == wanted and not _is_of_all_processes(peek(node, f))
    ]
    holding = [(i, f, line) for i, f, line in found if (f.f_lineno or 0) > line]
    for ident, frame, line in holding or found:
        return ident, location(frame.f_code.co_filename, line, frame.f_code.co_qualname)
    return None


def _named_at(place: Location) -> str:
    """What a line takes, as it is written there."""
    tree = parsed(os.path.abspath(place.file))
    nodes = list(ast.walk(tree)) if tree is not None else []
    takings = [item.context_expr for node in nodes if isinstance(node, _With) for item in node.items]
    takings += [
        node.func.value
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "acquire"
    ]
    return next((ast.unparse(node) for node in takings if node.lineno == place.line), "")


def _awaited(frame: FrameType) -> object:
    """What the present line of a frame takes: `with lock:` or `lock.acquire()`."""
    for line, node in _takings(frame):
        if line == frame.f_lineno:
            return peek(node, frame)
    return MISSING


def _takings(frame: FrameType) -> Iterator[tuple[int, ast.expr]]:
    """The lines of a frame's function that take something, and what."""
    for node in _nodes(frame):
        if isinstance(node, _With):
            yield from ((item.context_expr.lineno, item.context_expr) for item in node.items)
    yield from _calls(frame, "acquire")


def _taken_in(frame: FrameType, lock: object, but: int) -> int:
    """The line on which a frame took a lock that it has not given back; 0 where there is none."""
    if not is_user_file(frame.f_code.co_filename):
        return 0
    now = frame.f_lineno or 0
    for node in _nodes(frame):
        if isinstance(node, _With) and node.body[0].lineno <= now <= (node.body[-1].end_lineno or 0):
            for item in node.items:
                if item.context_expr.lineno != but and peek(item.context_expr, frame) is lock:
                    return item.context_expr.lineno
    given_back = [line for line, thing in _calls(frame, "release") if peek(thing, frame) is lock]
    taken = [line for line, thing in _calls(frame, "acquire") if line < now and peek(thing, frame) is lock]
    return next((line for line in taken if not any(line < back <= now for back in given_back)), 0)


def _is_of_all_processes(lock: object) -> bool:
    """A lock of `multiprocessing` is the same one in every process: a fork makes no copy of it."""
    return type(lock).__module__.startswith("multiprocessing")


def _nodes(frame: FrameType) -> Iterator[ast.AST]:
    """What a frame's own function consists of; functions that are written inside it run in frames of their own."""
    tree = parsed(frame.f_code.co_filename)
    waiting: list[ast.AST] = [enclosing_function(tree, frame)] if tree is not None else []
    while waiting:
        node = waiting.pop(0)
        yield node
        inside = ast.iter_child_nodes(node)
        waiting += [one for one in inside if not isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))]


def _calls(frame: FrameType, name: str) -> Iterator[tuple[int, ast.expr]]:
    """Calls of a method in a frame's function: line, and whose method."""
    for node in _nodes(frame):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == name:
            yield node.lineno, node.func.value
