"""An index that is too large for the axis it is used on."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Crash, Frame, Location, Run, TensorSummary
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._origins import counting_from_one
from torchmedic.rules.errors._reading import (
    also,
    crash_in,
    described,
    said,
    shape,
    tensors,
    tensors_on_line,
    user_line,
)
from torchmedic.rules.errors._syntax import Assignment, Code, dotted

_PATTERNS = (
    r"index (?P<index>-?\d+) is out of bounds for (?:dimension|axis) (?P<axis>\d+) with size (?P<size>\d+)",
    r"index (?P<index>-?\d+) is out of bounds for dimension with size (?P<size>\d+)",
    r"for dim (?P<axis>\d+), size is (?P<size>\d+) but found index (?P<index>-?\d+)",
)


class IndexOnWrongAxis(Rule):
    """An index lies beyond the axis, often because the axes of another tensor were mixed up."""

    code = "ERR006"
    name = "index-on-wrong-axis"
    symptoms = (Symptom.CRASH,)
    tell_apart = "an index is out of bounds for a dimension, and another axis in the frame would hold it"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        match = said(crash, *_PATTERNS)
        frame = crash.user_frame if crash is not None else None
        if crash is None or match is None or frame is None:
            return
        index, size = int(match["index"]), int(match["size"])
        axis = int(match["axis"]) if "axis" in match.groupdict() else None
        line = frame.location
        mentioned = tensors_on_line(run, frame)
        target = _target(mentioned, size, axis)
        indices = _indices(mentioned or list(tensors(frame)), index)
        choice = _axes_chosen(Code.of(run), frame, line, target, index)
        numbered = counting_from_one(Code.of(run)) if choice is None and _is_shifted(mentioned, size) else None
        where = choice[0].location if choice is not None else numbered or line
        yield self.diagnose(
            headline=f"index {index} does not fit "
            + (f"`{target}`" if target else "the tensor")
            + (f", whose dimension {axis} has size {size}" if axis is not None else f" of size {size}"),
            confidence="proven" if numbered is None else "likely",
            where=where,
            label=_label(choice) if numbered is None else "numbered from 1 here",
            also=also((user_line(crash), "the index is used here"), but=where),
            culprit=Culprit(tensor=target or None, index=(index,), phase="forward", op="index"),
            evidence=tuple(_evidence(frame, mentioned, indices, choice, index)),
            remedies=tuple(_cures(choice, indices, index, size, where)),
        )


def _is_shifted(found: list[tuple[str, TensorSummary]], size: int) -> bool:
    """Whether the indices on the line run from 1 to the size, instead of from 0."""
    return any(t.dtype.startswith(("int", "uint")) and t.maximum == size and (t.minimum or 0) >= 1 for _, t in found)


Choice = tuple[Assignment, str, TensorSummary, list[int]]


def _target(mentioned: list[tuple[str, TensorSummary]], size: int, axis: int | None) -> str:
    fits = [n for n, t in mentioned if (size in t.shape if axis is None else t.shape[axis : axis + 1] == (size,))]
    return fits[0] if fits else ""


def _indices(found: list[tuple[str, TensorSummary]], index: int) -> list[str]:
    """Whole-number tensors that hold the index."""
    whole = [(n, t) for n, t in found if t.dtype.startswith(("int", "uint"))]
    return [n for n, t in whole if index in (t.maximum, t.minimum)] or [
        n for n, t in whole if t.maximum is not None and t.minimum is not None and t.minimum <= index <= t.maximum
    ]


def _axes_chosen(code: Code, frame: Frame, line: Location, target: str, index: int) -> Choice | None:
    """The statement that sized the target by counting axes of another tensor from the front."""
    names = [target.partition("[")[0]] if target else []
    statement = code.statement(line)
    own = [Assignment(line, "assign", statement)] if statement is not None else []
    for bound in [*(a for n in names for a in _bindings(code, frame, n, line)), *own]:
        for owner, axes in _axes_read(code, bound.node, line):
            value = frame.value(owner)
            tensor = value.tensor if value is not None else None
            if tensor is not None and len(tensor.shape) > max(axes) + 1 and max(tensor.shape) > index:
                return bound, owner, tensor, axes
    return None


def _bindings(code: Code, frame: Frame, name: str, line: Location) -> Iterator[Assignment]:
    """The last assignment of a name, then those in other branches whose axes make the shape that it really has."""
    last = code.last_assignment(name, line)
    if last is None:
        return
    yield last
    value = frame.value(name)
    sizes = value.tensor.shape if value is not None and value.tensor is not None else ()
    for bound in reversed(code.assignments(name, line)):
        for owner, axes in _axes_read(code, bound.node, line, depth=1):
            held = frame.value(owner)
            source = held.tensor.shape if held is not None and held.tensor is not None else ()
            if bound.location.line < last.location.line and tuple(source[a : a + 1] for a in axes) == tuple(
                (n,) for n in sizes
            ):
                yield bound


def _axes_read(code: Code, node: ast.AST, line: Location, depth: int = 0) -> Iterator[tuple[str, list[int]]]:
    """Owner and axes of `x.shape[0], x.shape[1]` or `x.size(0)` in a statement, or in what its names were bound to."""
    found: dict[str, list[int]] = {}
    for part in ast.walk(node):
        owner, axis = _axis_of(part)
        if owner:
            found.setdefault(owner, []).append(axis)
    yield from ((owner, axes) for owner, axes in found.items() if all(a >= 0 for a in axes))
    if depth == 0:
        for name in {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}:
            bound = code.last_assignment(name, line)
            if bound is not None and bound.value is not None:
                yield from _axes_read(code, bound.value, line, depth + 1)


def _axis_of(node: ast.AST) -> tuple[str, int]:
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
        return dotted(node.value.value), _number(node.slice)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "size" and node.args:
        return dotted(node.func.value), _number(node.args[0])
    return "", -1


def _number(node: ast.expr) -> int:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, int) else -1


def _label(choice: Choice | None) -> str:
    if choice is None:
        return ""
    _, owner, tensor, axes = choice
    return f"axes {', '.join(map(str, axes))} of `{owner}` {shape(tensor.shape)}"


def _evidence(
    frame: Frame,
    mentioned: list[tuple[str, TensorSummary]],
    indices: list[str],
    choice: Choice | None,
    index: int,
) -> Iterator[str]:
    listed = mentioned or list(tensors(frame))
    if listed:
        yield described(listed)
    if indices:
        yield f"the index comes from `{indices[0]}`"
    if choice is not None:
        _, owner, tensor, axes = choice
        fitting = [i for i, n in enumerate(tensor.shape) if n > index and i not in axes]
        for axis in fitting[:1]:
            yield (
                f"{index} fits dimension {axis - len(tensor.shape)} of `{owner}` (size {tensor.shape[axis]}) "
                f"and none of those used"
            )


def _cures(choice: Choice | None, indices: list[str], index: int, size: int, where: Location) -> Iterator[Remedy]:
    if choice is not None:
        _, owner, tensor, axes = choice
        rank = len(tensor.shape)
        wanted = list(range(rank - len(axes), rank))
        old = [f"{owner}.shape[{a}]" for a in axes]
        new = [f"{owner}.shape[{a - rank}]" for a in wanted]
        source = where.source.split("  #")[0].strip()
        changed = source
        for before, after in zip(old, new, strict=True):
            changed = changed.replace(before, after)
        yield Remedy(
            title=f"count the axes from the end: {', '.join(f'`{n}`' for n in new)}",
            diff=f"- {source}\n+ {changed}" if changed != source else None,
        )
    elif index == size:
        yield Remedy(title=f"indices run from 0 to {size - 1}: start counting at 0, or make the axis one longer")
    else:
        name = f"`{indices[0]}`" if indices else "the index"
        yield Remedy(title=f"index the axis that {name} counts, or make this axis at least {index + 1} long")
