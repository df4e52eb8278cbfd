"""How long the script means to train: the `range` of the loop around its steps."""

from __future__ import annotations

import ast
from types import FrameType

from torchmedic.facts import PlannedEpochs
from torchmedic.probes.source.expressions import enclosing_function, parsed, peek
from torchmedic.probes.source.frames import is_user_file, location, outward


def planned_epochs(frame: FrameType | None) -> PlannedEpochs | None:
    """The plan of the outermost loop over `range(…)`, where it is one over epochs; None otherwise."""
    found = None
    depth = 0
    for user in (f for f in outward(frame) if is_user_file(f.f_code.co_filename)):
        for loop in loops_around(user):
            epochs = count_of(loop, user)
            if epochs is not None and epochs > 1 and (depth or _is_named_epoch(loop.target)):
                found = (epochs, user, loop)
            depth += 1
    if found is None:
        return None
    epochs, user, loop = found
    where = location(user.f_code.co_filename, loop.lineno, user.f_code.co_qualname)
    return PlannedEpochs(step=None, epochs=epochs, source="loop", where=where)


def loops_around(frame: FrameType) -> list[ast.For]:
    """The `for` statements of a frame's own function that hold its present line, innermost first."""
    tree = parsed(frame.f_code.co_filename)
    if tree is None:
        return []
    scope = tree if frame.f_code.co_name == "<module>" else enclosing_function(tree, frame)
    line = frame.f_lineno or 0
    around = [n for n in ast.walk(scope) if isinstance(n, ast.For) and n.lineno < line <= (n.end_lineno or 0)]
    return sorted(around, key=lambda n: -n.lineno)


def _is_named_epoch(target: ast.expr) -> bool:
    return isinstance(target, ast.Name) and target.id.lower().startswith("ep")


def count_of(loop: ast.For, frame: FrameType) -> int | None:
    """How often the loop runs, as far as its `range` can be read without running code."""
    call = loop.iter
    while isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in ("tqdm", "trange"):
        if call.func.id == "trange":
            break
        call = call.args[0] if call.args else call.func
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id not in ("range", "trange"):
        return None
    bounds = [_whole(argument, frame) for argument in call.args]
    if not bounds or any(not isinstance(bound, int) for bound in bounds):
        return None
    return len(range(*(bound for bound in bounds if bound is not None)))


def _whole(node: ast.expr, frame: FrameType) -> int | None:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        left, right = _whole(node.left, frame), _whole(node.right, frame)
        if left is None or right is None:
            return None
        return left + right if isinstance(node.op, ast.Add) else left - right
    value = peek(node, frame)
    return value if type(value) is int else None
