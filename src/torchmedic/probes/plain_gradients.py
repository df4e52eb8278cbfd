"""Gradients asked for without `create_graph`, in a traced step: a term of the loss made of them is a number."""

from __future__ import annotations

from torchmedic.probes.cuts import Cut, Reading
from torchmedic.probes.trace import Place, Seen, StorageKey


def terms_of_plain_gradients(reading: Reading) -> list[Cut]:
    """Whole terms of the loss that are computed from what `torch.autograd.grad` returned, and need no gradient."""
    found: list[Cut] = []
    for joining, term in reading.constant_terms():
        within = reading.ancestors(term.maker) if term.maker is not None else set()
        for index in sorted(within | {joining.index}):
            found += [cut for seen in reading.ops[index].inputs if (cut := _cut(reading, seen, index)) is not None]
    return sorted(found, key=lambda cut: cut.at)


def _cut(reading: Reading, seen: Seen, reader: int) -> Cut | None:
    asked = _asked_for(reading, seen.maker) if not seen.requires_grad else None
    if asked is None or seen.maker is None or _is_detached(reading, seen, reader):
        return None
    keys = _weights_behind(reading, seen.maker)
    if not keys:
        return None
    place = reading.ops[reader].place
    return Cut(
        how="gradient",
        op=reading.ops[seen.maker].name,
        where=asked.location(),
        expression=asked.expression(),
        read=place.location() if place is not None else None,
        keys=keys,
        at=seen.maker,
    )


def _asked_for(reading: Reading, maker: int | None) -> Place | None:
    """The call of `torch.autograd.grad` in whose backward an operation ran."""
    if maker is None or reading.ops[maker].phase != "backward":
        return None
    before = [asked for asked in reading.trace.gradients_asked if asked.at <= maker]
    if not before or any(op.phase == "forward" for op in reading.ops[before[-1].at + 1 : maker]):
        return None
    return before[-1].place


def _is_detached(reading: Reading, seen: Seen, reader: int) -> bool:
    """Whether the script says itself that this is to be a constant."""
    between = reading.ops[(seen.maker or 0) + 1 : reader]
    return any(
        op.phase == "forward" and op.name.startswith("aten.detach.") and op.inputs[0].key == seen.key for op in between
    )


def _weights_behind(reading: Reading, start: int) -> set[StorageKey]:
    """The weights in question that a gradient was computed from, through the backward and the forward before it."""
    waiting, done, found = [start], set[int](), set[StorageKey]()
    while waiting:
        index = waiting.pop()
        if index in done:
            continue
        done.add(index)
        for seen in reading.ops[index].inputs:
            if seen.key in reading.weights:
                found |= {seen.key} & reading.keys
            elif seen.maker is not None and seen.maker < index:
                waiting.append(seen.maker)
    return found
