"""Follows the learning rate of a new optimizer back through the running calls: what it was multiplied by, and where."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import FrameType
from typing import Any

from torchmedic.facts import Location, RateScaledTwice
from torchmedic.late import late_dataclass
from torchmedic.probes.source.expressions import MISSING, called_name, enclosing_function, last_assignment, parsed, peek
from torchmedic.probes.source.frames import is_user_file, location, outward

_MOST_HOPS = 6


@late_dataclass(frozen=True)
class _Factor:
    """Something that the rate is multiplied by: its names in the calls it came through, and its value."""

    names: frozenset[str]
    text: str
    value: float
    where: Location


def scaled_twice(optimizer: Any, frame: FrameType | None) -> RateScaledTwice | None:
    """The same number, above 1, by which two different lines multiply the rate."""
    factors = list(_factors([f for f in outward(frame) if is_user_file(f.f_code.co_filename)]))
    for number, inner in enumerate(factors):
        for outer in factors[number + 1 :]:
            same = inner.names & outer.names and inner.value == outer.value > 1
            if same and str(inner.where) != str(outer.where):
                return RateScaledTwice(
                    optimizer=type(optimizer).__name__,
                    factor=outer.text,
                    value=outer.value,
                    where=outer.where,
                    again=inner.where,
                    again_by=inner.text,
                    rate=max(float(group["lr"]) for group in optimizer.param_groups),
                )
    return None


def _factors(frames: list[FrameType]) -> Iterator[_Factor]:
    """Innermost call first: what the argument `lr` is a product of, then what its caller made it of."""
    wanted = "lr"
    for depth, frame in enumerate(frames[:_MOST_HOPS]):
        tree = parsed(frame.f_code.co_filename)
        value = _given(tree, frame, wanted, frames[depth - 1] if depth else None) if tree is not None else None
        if tree is None or value is None:
            return
        parts = list(_product(enclosing_function(tree, frame), value, frame))
        yield from (factor for part, line in parts for factor in _factor(part, line, frames[depth:]))
        kept = [part for part, _ in parts if isinstance(part, ast.Attribute) and _is_rate(part.attr)]
        if kept:
            yield from _of_attribute(kept[0], frames[depth:])
            return
        own = _parameters(frame)
        handed = {part.id for part, _ in parts if isinstance(part, ast.Name) and part.id in own and _is_rate(part.id)}
        if len(handed) != 1:
            return
        wanted = handed.pop()


def _of_attribute(rate: ast.Attribute, frames: list[FrameType]) -> Iterator[_Factor]:
    """What the callers multiplied the rate by that an object such as `args` keeps."""
    holder = peek(rate.value, frames[0])
    for depth, frame in enumerate(frames[1:_MOST_HOPS], start=1):
        tree = parsed(frame.f_code.co_filename)
        for node in _reached(enclosing_function(tree, frame), frame) if tree is not None else ():
            target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
            is_rate = isinstance(target, ast.Attribute) and target.attr == rate.attr
            if is_rate and isinstance(target, ast.Attribute) and peek(target.value, frame) is holder:
                for part, line in _product(ast.Module([], []), node.value, frame):
                    yield from _factor(part, line, frames[depth:])


def _factor(part: ast.expr, line: int, frames: list[FrameType]) -> Iterator[_Factor]:
    """A factor that is a number with a name, and not the rate itself."""
    held: Any = peek(part, frames[0]) if isinstance(part, (ast.Name, ast.Attribute)) else MISSING
    names = frozenset(_names(part, frames))
    if isinstance(held, (int, float)) and not isinstance(held, bool) and not any(map(_is_rate, names)):
        at = location(frames[0].f_code.co_filename, line, frames[0].f_code.co_qualname)
        yield _Factor(names, ast.unparse(part), float(held), at)


def _is_rate(name: str) -> bool:
    return "lr" in name.lower() or name.lower().endswith("rate")


def _parameters(frame: FrameType) -> tuple[str, ...]:
    code = frame.f_code
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _given(tree: ast.Module, frame: FrameType, name: str, callee: FrameType | None) -> ast.expr | None:
    """What the call that a frame is in gives for a parameter."""
    line = frame.f_lineno or 0
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and n.lineno <= line <= (n.end_lineno or 0)]
    named = [k.value for call in calls for k in call.keywords if k.arg == name]
    if named or callee is None:
        return named[0] if len(named) == 1 else None
    names = list(callee.f_code.co_varnames[: callee.f_code.co_argcount])
    names = names[1:] if names[:1] == ["self"] else names
    called = {callee.f_code.co_name, callee.f_code.co_qualname.rpartition(".")[0]}
    fitting = [call for call in calls if called_name(call) in called]
    if len(fitting) != 1 or name not in names or any(isinstance(a, ast.Starred) for a in fitting[0].args):
        return None
    return next(iter(fitting[0].args[names.index(name) : names.index(name) + 1]), None)


def _product(scope: ast.AST, value: ast.expr, frame: FrameType) -> Iterator[tuple[ast.expr, int]]:
    """The factors of a value and the lines they stand on, through the variables of the same function."""
    waiting = [value]
    seen: set[str] = set()
    while waiting:
        part = waiting.pop(0)
        if isinstance(part, ast.BinOp) and isinstance(part.op, (ast.Mult, ast.Div)):
            waiting += [part.left, part.right] if isinstance(part.op, ast.Mult) else [part.left]
            continue
        yield part, part.lineno
        text = ast.unparse(part)
        if isinstance(part, (ast.Name, ast.Attribute)) and text not in seen:
            seen.add(text)
            made = last_assignment(scope, text, frame.f_lineno or 0) if isinstance(part, ast.Name) else None
            if made is not None and made.value is not None and _fits(text, made.value, frame):
                waiting.append(made.value)
            in_place = (node for node in _reached(scope, frame) if isinstance(node, ast.AugAssign))
            waiting += [node.value for node in in_place if ast.unparse(node.target) == text]


def _reached(scope: ast.AST, frame: FrameType) -> Iterator[ast.Assign | ast.AugAssign]:
    """Assignments and products in place above the line a frame has come to, which no condition may have skipped."""
    for node in getattr(scope, "body", []):
        is_product = isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Mult)
        if (is_product or isinstance(node, ast.Assign)) and node.lineno < (frame.f_lineno or 0):
            yield node


def _fits(text: str, made: ast.expr, frame: FrameType) -> bool:
    """Whether an expression gives the value that a variable has: the line may be one that did not run."""
    if any(ast.unparse(node) == text for node in ast.walk(made) if isinstance(node, ast.Name)):
        return True
    held, worth = peek(ast.Name(text), frame), _worth(made, frame)
    return worth is None or (isinstance(held, (int, float)) and abs(held - worth) <= 1e-6 * abs(worth))


def _worth(value: ast.expr, frame: FrameType) -> float | None:
    """What a product or a quotient of names and numbers gives; None for anything else."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Mult, ast.Div)):
        left, right = _worth(value.left, frame), _worth(value.right, frame)
        if left is None or right is None or (isinstance(value.op, ast.Div) and not right):
            return None
        return left * right if isinstance(value.op, ast.Mult) else left / right
    held: Any = peek(value, frame)
    return float(held) if isinstance(held, (int, float)) else None


def _names(part: ast.expr, frames: list[FrameType]) -> Iterator[str]:
    """The last word of a factor, and of what the callers gave for it."""
    for depth, frame in enumerate(frames[:_MOST_HOPS]):
        word = part.attr if isinstance(part, ast.Attribute) else part.id if isinstance(part, ast.Name) else ""
        if word:
            yield word
        outer = frames[depth + 1] if depth + 1 < len(frames) else None
        tree = parsed(outer.f_code.co_filename) if outer is not None else None
        is_given = outer is not None and tree is not None and word in _parameters(frame)
        given = _given(tree, outer, word, frame) if is_given and tree is not None and outer is not None else None
        if given is None:
            return
        part = given
