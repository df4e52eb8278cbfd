"""Helpers of the loss rules: calls grouped by line, and the words for who made what."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from torchmedic.facts import LossCall, Producer, Run
from torchmedic.findings import Also

CLASS_LOSSES = ("cross_entropy", "nll_loss")


def always(run: Run, functions: tuple[str, ...], holds: Callable[[LossCall], bool]) -> Iterator[tuple[LossCall, int]]:
    """The first call on every line of which all calls seen fit, and their number."""
    groups: dict[tuple[object, ...], list[LossCall]] = {}
    for call in run.all(LossCall):
        if call.function in functions:
            place = (call.where.file, call.where.line) if call.where else ("", 0)
            groups.setdefault((*place, call.function, call.expression), []).append(call)
    for calls in groups.values():
        if all(holds(call) for call in calls):
            yield calls[0], len(calls)


def over_classes(call: LossCall) -> bool:
    """The values given are probabilities (or logarithms of some) over the classes."""
    return call.class_dim in call.sums_to_one


def made_by(producer: Producer | None) -> str:
    """`F.softmax(x, dim=1)`, or the layer that ran it."""
    if producer is None:
        return ""
    if producer.layer and not producer.direct:
        return f"nn.{producer.layer}"
    return producer.expression or producer.op


def loss_line(call: LossCall, why: str) -> tuple[Also, ...]:
    """The line of the loss as a second place, where it is not the one to edit."""
    where = call.producer.to_edit if call.producer else None
    if call.where is None or (where is not None and (where.file, where.line) == (call.where.file, call.where.line)):
        return ()
    return (Also(location=call.where, why=why),)


def given_range(call: LossCall) -> str:
    return f"[{call.given.minimum:.3g}, {call.given.maximum:.3g}]" if call.given.minimum is not None else "unknown"


def shown(shape: tuple[int, ...]) -> str:
    """`(128, 1)`, `(128,)`."""
    return str(tuple(shape))


def seen(times: int) -> str:
    """`all 5 steps looked at`.

    >>> seen(1)
    'the step looked at'
    """
    return "the step looked at" if times == 1 else f"all {times} steps looked at"
