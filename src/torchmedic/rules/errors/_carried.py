"""Follows a state that is carried from batch to batch back to the line that made it for a batch of one size."""

from __future__ import annotations

import ast

from torchmedic.facts import Crash, Frame, Location, Run
from torchmedic.rules.errors._reading import tensors
from torchmedic.rules.errors._syntax import Assignment, Code, dotted, dotted_names

_MOST_STEPS = 8


def state_made_at(run: Run, crash: Crash, made: tuple[int, ...], batch: int) -> Location | None:
    """The line that was told `batch` when it made a tensor of this form, which the line that failed was given."""
    code = Code.of(run)
    for frame in reversed([frame for frame in crash.frames if frame.is_user]):
        statement = code.statement(frame.location)
        given = dotted_names([statement]) if statement is not None else ()
        carried = {found.partition("[")[0] for found, tensor in tensors(frame) if tensor.shape == made}
        for name in given:
            place = _followed(code, frame, name, batch) if name in carried else None
            if place is not None:
                return place
    return None


def _followed(code: Code, frame: Frame, name: str, batch: int) -> Location | None:
    place = frame.location
    for _ in range(_MOST_STEPS):
        bound = code.last_assignment(name, place)
        if bound is None or bound.how != "assign" or bound.value is None or bound.location.line >= place.line:
            return None
        if _is_told(bound, frame, batch):
            return bound.location
        others = dotted_names([bound.value])
        name, place = name if name in others or not others else others[0], bound.location
    return None


def _is_told(bound: Assignment, frame: Frame, batch: int) -> bool:
    """Whether a call of a statement is given the size of the batch: the number, or a name that holds it."""
    known = {value.name: value.text for value in frame.values}
    calls = [node for node in ast.walk(bound.node) if isinstance(node, ast.Call)]
    given = [a for call in calls for a in (*call.args, *(k.value for k in call.keywords))]
    parts = [part for a in given for part in (a.elts if isinstance(a, (ast.Tuple, ast.List)) else [a])]
    return any(
        part.value == batch
        if isinstance(part, ast.Constant)
        else known.get(dotted(part)) == str(batch) or dotted(part).rpartition(".")[2].lower() == "batch_size"
        for part in parts
    )
