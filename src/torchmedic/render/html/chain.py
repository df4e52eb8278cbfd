"""The way of the trouble, from where it came in to the loss, as stations to be drawn."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from torchmedic.facts import Birth, Location, Operand, OpFact, Origin, Run, SickStep, Source, TensorSummary
from torchmedic.render.html.numbers import short
from torchmedic.render.html.text import say
from torchmedic.translation import said as told

_MOST_OPERATIONS = 7


@dataclass(frozen=True, kw_only=True)
class Station:
    """One box of the picture. `state` is "finite", "infinite", "nan" or "bad"; the origin is drawn with weight."""

    title: str
    details: tuple[str, ...] = ()
    place: str = ""
    state: str = "bad"
    is_origin: bool = False
    is_code: bool = True


def stations(run: Run) -> list[Station]:
    """The stations of a sick step; nothing where there is no way to show."""
    origin, sick = run.first(Origin), run.first(SickStep)
    if origin is None or sick is None:
        return []
    birth = run.first(Birth)
    found = [_birth(birth)] if birth is not None else []
    if origin.source is not None:
        found.append(_source(origin.source, is_origin=birth is None))
    elif birth is None:
        found += _way_in(origin.op)
    found += _operations(origin, is_origin=birth is None and origin.source is None)
    found += _ends(sick)
    return found


def _birth(birth: Birth) -> Station:
    said = say("chain_birth", bad=birth.bad, total=birth.total, variable=told(birth.variable))
    return Station(
        title=birth.where.source.strip() or birth.expression or birth.variable,
        details=(said,),
        place=_place(birth.where),
        state="nan" if birth.nan else "infinite",
        is_origin=True,
    )


def _source(source: Source, *, is_origin: bool) -> Station:
    details = [str(source.tensor)]
    if source.row_count:
        details.append(say("chain_rows", count=source.row_count))
    if source.column_count == 1:
        details.append(say("chain_column", column=source.columns[0]))
    if source.sample is not None:
        details.append(say("chain_sample", sample=source.sample))
    return Station(
        title=source.name, details=(", ".join(details),), state=_state(source.tensor) or "bad", is_origin=is_origin
    )


def _way_in(op: OpFact) -> Iterator[Station]:
    """The last healthy station: what the guilty operation was given."""
    operands = op.forward_operands or op.operands
    given = next((operand for operand in operands if operand.name and operand.made_at is not None), None)
    if given is not None and not _state(given.tensor):
        yield Station(
            title=given.name,
            details=(_told(given),),
            place=_place(given.made_at),
            state=_state(given.tensor) or "finite",
        )


def _told(operand: Operand) -> str:
    tensor = operand.tensor
    parts = [str(tensor)]
    if tensor.minimum is not None:
        parts.append(say("chain_range", low=short(tensor.minimum), high=short(tensor.maximum)))
    if tensor.zeros:
        parts.append(say("chain_zeros", zeros=tensor.zeros))
    return ", ".join(parts)


def _operations(origin: Origin, *, is_origin: bool) -> Iterator[Station]:
    chain = list(origin.chain) or [origin.op]
    if chain[0] != origin.op:
        chain.insert(0, origin.op)
    if origin.turn is not None and origin.turn not in chain:
        chain.append(origin.turn)
    groups = [list(ops) for _, ops in groupby(chain, key=lambda op: (op.phase, op.where, op.expression))]
    half = _MOST_OPERATIONS // 2
    skipped = len(groups) - 2 * half if len(groups) > _MOST_OPERATIONS else 0
    for number, ops in enumerate(groups):
        if skipped and half <= number < len(groups) - half:
            if number == half:
                yield Station(title=say("chain_skipped", count=skipped), is_code=False)
            continue
        yield _operation(ops, is_origin=is_origin and number == 0)


def _operation(ops: list[OpFact], *, is_origin: bool) -> Station:
    """Operations that one expression of the user's makes are one station; what they are is told in small print."""
    last = ops[-1]
    details = []
    if last.bad and last.result is not None:
        details.append(say("chain_bad", bad=last.bad, total=last.result.numel))
    if len(ops) > 1 or last.module:
        details.append(" → ".join(_named(op) for op in ops))
    name = last.expression or last.called or last.op
    return Station(
        title=name if last.phase == "forward" else f"{name} ({last.node or last.phase})",
        details=tuple(details),
        place=_place(last.where),
        state=(_state(last.result) if last.result is not None else "") or "bad",
        is_origin=is_origin,
    )


def _named(op: OpFact) -> str:
    """The operation's short name, and the layer that called it."""
    name = op.op.split(".")[1] if op.op.count(".") > 1 else op.op
    return f"{name} ({op.module})" if op.module else name


def _ends(sick: SickStep) -> Iterator[Station]:
    if sick.loss is not None and not math.isfinite(sick.loss):
        state = "nan" if math.isnan(sick.loss) else "infinite"
        yield Station(title=say("chain_loss"), place=_place(sick.backward_at), state=state, is_code=False)
    if sick.bad_parameters:
        said = say(
            "chain_gradients_bad", bad=len(sick.bad_parameters), total=sick.parameters, first=sick.bad_parameters[0]
        )
        yield Station(title=say("chain_gradients"), details=(said,), state="bad", is_code=False)
    done, state = ("chain_applied", "bad") if sick.was_applied else ("chain_withheld", "finite")
    yield Station(title=say("chain_update"), details=(say(done),), state=state, is_code=False)


def _state(tensor: TensorSummary) -> str:
    """Empty for a tensor that is finite as far as is known."""
    if tensor.nan:
        return "nan"
    return "infinite" if tensor.inf else ""


def _place(where: Location | None) -> str:
    return str(where) if where is not None else ""
