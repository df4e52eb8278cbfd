"""Gradients asked for without `create_graph`, in a traced step: a term of the loss made of them is a number."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.probes.graph.cuts import Cut, Reading
from torchmedic.probes.graph.trace import Op, Seen, StorageKey
from torchmedic.probes.graph.traced_step import Asked

# These set a gradient against something that is learned: the two sides of an equation.
_SETTING_AGAINST = ("aten.add.", "aten.sub.", "aten.rsub.", "aten.mse_loss.", "aten.l1_loss.", "aten.smooth_l1_loss.")
# These hand a gradient on as it is, or as one side of an equation has it: multiplied by a constant, or in part.
_HANDING_ON = (
    *("aten.mul.", "aten.div.", "aten.neg.", "aten.add.", "aten.sub.", "aten.rsub.", "aten.sum.", "aten.clone."),
    *("aten.view.", "aten._unsafe_view.", "aten.squeeze.", "aten.unsqueeze.", "aten.select.", "aten.slice."),
    *("aten.index.", "aten.cat.", "aten.stack.", "aten.expand.", "aten.t.", "aten.transpose.", "aten.alias."),
)


def terms_of_plain_gradients(reading: Reading) -> list[Cut]:
    """Whole terms of the loss that are computed from what `torch.autograd.grad` returned, and need no gradient."""
    found: list[Cut] = []
    for joining, term in reading.constant_terms():
        within = reading.ancestors(term.maker) if term.maker is not None else set()
        for index in sorted(within | {joining.index}):
            found += [cut for seen in reading.ops[index].inputs if (cut := _cut(reading, seen, index)) is not None]
    return sorted(found, key=lambda cut: cut.at)


def parts_of_plain_gradients(reading: Reading) -> list[Cut]:
    """Gradients by an input that stand beside something learned in a term of the loss, and are constants in it.

    Where they become an input of the model again (an attack, a step of a sampler) they are meant as numbers: only what
    no weight is applied to on the way to the loss is the residual of an equation. A gradient by weights makes a step.
    """
    above = reading.above_root()
    found: list[Cut] = []
    for index in sorted(above):
        op = reading.ops[index]
        if op.name.startswith(_SETTING_AGAINST) and any(seen.requires_grad for seen in op.inputs):
            sides = [seen for seen in op.inputs if not seen.requires_grad and seen.is_float]
            cuts = [
                cut
                for seen in sides
                for origin, at in _handed_on(reading, seen, index)
                if (cut := _cut(reading, origin, at))
            ]
            found += [
                cut for cut in cuts if not _is_weighed_after(reading, op, above) and not _is_of_weights(reading, cut)
            ]
    return sorted(found, key=lambda cut: cut.at)


def _handed_on(reading: Reading, seen: Seen, reader: int) -> Iterator[tuple[Seen, int]]:
    """A constant operand, and those it was made of by handing on, each with the operation that reads it."""
    waiting, done = [(seen, reader)], set[int]()
    while waiting:
        part, at = waiting.pop()
        yield part, at
        made = reading.ops[part.maker] if part.maker is not None and part.maker < at else None
        if made is None or made.index in done or made.phase != "forward" or not made.name.startswith(_HANDING_ON):
            continue
        done.add(made.index)
        if not any(given.requires_grad for given in made.inputs):
            waiting += [(given, made.index) for given in made.inputs if given.is_float]


def _is_weighed_after(reading: Reading, joining: Op, above: set[int]) -> bool:
    """Whether weights are applied to the result on its way to the loss."""
    reached = {joining.index}
    for index in sorted(above):
        op = reading.ops[index]
        if index > joining.index and any(
            seen.maker in reached for seen in op.inputs if seen.key not in reading.weights
        ):
            reached.add(index)
            if any(seen.key in reading.weights for seen in op.inputs):
                return True
    return False


def _is_of_weights(reading: Reading, cut: Cut) -> bool:
    """Whether the gradient is that by weights, or by something computed from them: a step of an unrolled descent."""
    asked = _asked_for(reading, cut.at)
    if asked is None or asked.of & reading.weights:
        return True
    makers = [op.index for op in reading.ops[: asked.at] for seen in op.outputs if seen.key in asked.of]
    return any(index in reading.tainted for index in makers)


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
        where=asked.place.location(),
        expression=asked.place.expression(),
        read=place.location() if place is not None else None,
        keys=keys,
        at=seen.maker,
    )


def _asked_for(reading: Reading, maker: int | None) -> Asked | None:
    """The call of `torch.autograd.grad` in whose backward an operation ran."""
    if maker is None or reading.ops[maker].phase != "backward":
        return None
    before = [asked for asked in reading.trace.gradients_asked if asked.at <= maker]
    if not before or any(op.phase == "forward" for op in reading.ops[before[-1].at + 1 : maker]):
        return None
    return before[-1]


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
