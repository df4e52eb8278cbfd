"""Straight-through estimators in a traced step: in `x + (q - x).detach()`, `q` is a constant on purpose.

Without the `detach`, `x` is added and subtracted, its derivatives cancel, and nothing behind it learns.
"""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Location
from torchmedic.late import late_dataclass
from torchmedic.probes.graph.cuts import Cut, Reading
from torchmedic.probes.graph.trace import Op, Seen, StorageKey

# These hand the same numbers on in another storage.
_COPYING = ("aten.clone.", "aten._to_copy.", "aten.contiguous.")


@late_dataclass()
class Through:
    """An estimator: the operation that adds, what the gradient goes to, and the weights behind its constant side."""

    op: Op
    passed: tuple[StorageKey, int | None]
    keys: set[StorageKey]


def cuts_at_straight_through(reading: Reading) -> list[Cut]:
    """For weights that reach the loss only as the constant side of an estimator: the line that should read them.

    That is where the result of an estimator is held against its own input, detached, as the loss of a codebook does
    with what was looked up. Where no line does so, it is the line of the estimator.
    """
    above = reading.above_root()
    found: list[Cut] = []
    for through in _estimators(reading, above):
        held = next(_held_against_input(reading, through, above), None)
        op = held or through.op
        found.append(
            Cut(
                how="straight-through",
                op=op.name,
                where=op.place.location() if op.place else None,
                expression=op.place.expression() if op.place else "",
                read=through.op.place.location() if held is not None and through.op.place else None,
                keys=set(through.keys),
                at=op.index,
            )
        )
    return sorted(found, key=lambda cut: (cut.read is None, cut.at))


def cancelled_estimators(reading: Reading) -> list[Cut]:
    """Sums `x + (q - x)` and differences `x - (x - q)` on the way to the loss whose every side has a gradient."""
    found: dict[Location, Cut] = {}
    for index in sorted(reading.above_root()):
        op = reading.ops[index]
        cancelled = _cancelled_in(reading, op)
        keys = _weights_of(reading, cancelled) if cancelled is not None else set()
        if keys and op.place is not None:
            where = op.place.location()
            found.setdefault(where, Cut("cancelled", op.name, where, op.place.expression(), at=index)).keys.update(keys)
    return list(found.values())


def _cancelled_in(reading: Reading, op: Op) -> Seen | None:
    """The operand that a sum or a difference takes in and away again."""
    if len(op.inputs) != 2 or not all(seen.requires_grad for seen in op.inputs):
        return None
    first, second = op.inputs
    if op.name.startswith("aten.add."):
        pairs, side = [(first, second), (second, first)], 1
    elif op.name.startswith("aten.sub."):
        pairs, side = [(first, second)], 0
    else:
        return None
    for kept, other in pairs:
        difference = _difference(reading, other)
        if difference is not None and _source(reading, difference[side]) == _source(reading, kept):
            return kept
    return None


def _weights_of(reading: Reading, seen: Seen) -> set[StorageKey]:
    """The weights in question that a tensor is, or was computed from."""
    if seen.key in reading.keys:
        return {seen.key}
    return set(reading.tainted.get(seen.maker if seen.maker is not None else -1, set()))


def _estimators(reading: Reading, above: set[int]) -> Iterator[Through]:
    for index in sorted(above):
        op = reading.ops[index]
        live = [seen for seen in op.inputs if seen.requires_grad]
        constant = [seen for seen in op.inputs if not seen.requires_grad and seen.is_float]
        if op.name.startswith("aten.add.") and len(live) == 1 and len(constant) == 1:
            passed = _passed_by(reading, live[0], constant[0])
            keys = reading.tainted.get(_source(reading, constant[0])[1] or -1, set())
            if passed is not None and keys:
                yield Through(op, passed, keys)


def _passed_by(reading: Reading, live: Seen, constant: Seen) -> tuple[StorageKey, int | None] | None:
    """What the gradient goes to: `x` of `x + (q - x).detach()` and of `(x - x.detach()) + q.detach()`."""
    subtracted = _difference(reading, constant)
    if subtracted is not None and _source(reading, subtracted[1]) == _source(reading, live):
        return _source(reading, live)
    zero = _difference(reading, live)
    if zero is not None and _source(reading, zero[0]) == _source(reading, zero[1]) and not zero[1].requires_grad:
        return _source(reading, zero[0])
    return None


def _difference(reading: Reading, seen: Seen) -> tuple[Seen, Seen] | None:
    maker = _source(reading, seen)[1]
    op = reading.ops[maker] if maker is not None else None
    if op is None or not op.name.startswith("aten.sub.") or len(op.inputs) != 2:
        return None
    return op.inputs[0], op.inputs[1]


def _held_against_input(reading: Reading, through: Through, above: set[int]) -> Iterator[Op]:
    for index in sorted(above):
        op = reading.ops[index]
        if len(op.inputs) == 2 and index > through.op.index:
            live = [_source(reading, seen)[1] for seen in op.inputs if seen.requires_grad]
            constant = [_source(reading, seen) for seen in op.inputs if not seen.requires_grad]
            if live == [through.op.index] and constant == [through.passed]:
                yield op


def _source(reading: Reading, seen: Seen) -> tuple[StorageKey, int | None]:
    """A tensor by its storage and the operation that wrote it, or those of what it is a copy of."""
    key, maker = seen.key, seen.maker
    while maker is not None and reading.ops[maker].name.startswith(_COPYING):
        copied = reading.ops[maker].inputs[0]
        key, maker = copied.key, copied.maker
    return key, maker
