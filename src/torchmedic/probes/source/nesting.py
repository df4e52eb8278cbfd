"""What the user's lines of a stack lie in: loops, and branches of an `if`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import FrameType

from torchmedic.facts import Nest
from torchmedic.probes.source.expressions import enclosing_function, parsed
from torchmedic.probes.source.frames import is_user_file, location, location_of, outward

_MOST = 12
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def user_frames(frame: FrameType | None) -> list[FrameType]:
    """The frames of the user's in a stack, innermost first."""
    return [f for f in outward(frame) if is_user_file(f.f_code.co_filename)][:_MOST]


def nests(frames: list[FrameType]) -> tuple[Nest, ...]:
    """What the lines of frames, innermost first, lie in; outermost first."""
    return tuple(_nest(f) for f in reversed(frames))


def _nest(frame: FrameType) -> Nest:
    at = location_of(frame)
    file = frame.f_code.co_filename
    tree = parsed(file)
    if tree is None:
        return Nest(at=at)
    nodes = sorted(_around(enclosing_function(tree, frame), at.line), key=lambda found: found[1])
    loops = [(node, span) for node, span in nodes if isinstance(node, _LOOPS)]
    branches = [(node, span) for node, span in nodes if isinstance(node, ast.If)]
    return Nest(
        at=at,
        loops=tuple(span for _, span in loops),
        heads=tuple(location(file, node.lineno, at.function) for node, _ in loops),
        branches=tuple(span for _, span in branches),
        ifs=tuple(location(file, node.lineno, at.function) for node, _ in branches),
    )


def _around(scope: ast.AST, line: int) -> Iterator[tuple[ast.stmt, tuple[int, int]]]:
    """Loops and branches whose body holds a line, with the lines of that body."""
    for node in ast.walk(scope):
        if isinstance(node, (*_LOOPS, ast.If)):
            for body in (node.body, node.orelse if isinstance(node, ast.If) else []):
                span = (body[0].lineno, body[-1].end_lineno or 0) if body else (0, -1)
                if span[0] <= line <= span[1]:
                    yield node, span
