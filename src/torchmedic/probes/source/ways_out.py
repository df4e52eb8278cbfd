"""The lines on which the loops around a line can be left before their end."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import FrameType

from torchmedic.facts import Location
from torchmedic.probes.source.expressions import enclosing_function, parsed
from torchmedic.probes.source.frames import is_user_file, location, outward

_MOST = 3
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def ways_out(frame: FrameType | None) -> tuple[Location, ...]:
    """`break` and `return` in the loops that the user's frames are in, those of the innermost frame first."""
    own = (f for f in outward(frame) if is_user_file(f.f_code.co_filename))
    found = [at for f in own for at in _ways_out_of(f)]
    return tuple(found[:_MOST])


def is_left_by_choice(frame: FrameType | None) -> bool:
    """Whether the loop whose head a frame stands at ends early, and under conditions only (`if dry_run: break`)."""
    tree = parsed(frame.f_code.co_filename) if frame is not None else None
    if frame is None or tree is None:
        return False
    now = frame.f_lineno or 0
    around = (n for n in ast.walk(enclosing_function(tree, frame)) if isinstance(n, _LOOPS))
    bodies = [n.body for n in around if n.lineno <= now < n.body[0].lineno]
    ends = [line for body in bodies for line in _leaving(body, breaks=True)]
    certain = [line for body in bodies for line in _leaving(body, breaks=True, branches=False)]
    return bool(ends) and not certain


def _ways_out_of(frame: FrameType) -> Iterator[Location]:
    tree = parsed(frame.f_code.co_filename)
    if tree is None:
        return
    now = frame.f_lineno or 0
    around = (n for n in ast.walk(enclosing_function(tree, frame)) if isinstance(n, _LOOPS))
    loops = [n for n in around if n.body[0].lineno <= now <= (n.body[-1].end_lineno or 0)]
    for line in sorted({line for loop in loops for line in _leaving(loop.body, breaks=True)}):
        yield location(frame.f_code.co_filename, line, frame.f_code.co_qualname)


def _leaving(body: list[ast.stmt], breaks: bool, branches: bool = True) -> Iterator[int]:
    """Lines that leave a loop with this body, in its `branches` too; a `break` in a loop within it does not."""
    for node in body:
        if isinstance(node, ast.Return) or (breaks and isinstance(node, ast.Break)):
            yield node.lineno
        elif not isinstance(node, _SCOPES) and (branches or not isinstance(node, ast.If)):
            for part in ("body", "orelse", "handlers", "finalbody", "cases"):
                inside = getattr(node, part, [])
                yield from _leaving(inside, breaks and not (isinstance(node, _LOOPS) and part == "body"), branches)
