"""Terms of a loss that left torch as plain numbers and came back: the sum has their value and none of their history."""

from __future__ import annotations

import math
from collections.abc import Iterable

from torchmedic.facts import Location
from torchmedic.probes.graph.cuts import Cut, Reading
from torchmedic.probes.graph.trace import Op, Seen
from torchmedic.probes.graph.traced_step import Leaving

_JOINING = ("aten.add.", "aten.sub.", "aten.rsub.")
# A weight is written with few digits; what a network computes never has so few.
_DIGITS_OF_WEIGHTS = 3
_DIGITS_OF_RESULTS = 6
_EXACT, _EXACT_IN_FLOAT32 = 1e-9, 1e-6


def terms_of_numbers(reading: Reading, roots: Iterable[int | None]) -> list[Cut]:
    """Summands of the loss that are numbers taken out of results which needed a gradient, and get none any other way.

    `roots` are the makers of all tensors from which backward ran: a result that one of them reaches is trained.
    """
    trained = set[int]().union(*(reading.ancestors(root) for root in roots if root is not None))
    left = [leave for leave in reading.borders.leaving if leave.needs_grad and _is_untrained(reading, leave, trained)]
    found: list[Cut] = []
    for op, term in reading.joined_terms() if left else ():
        if not _has_history(reading, term):
            found += _cuts(reading, op, _in_tensor(reading, op, term, left))
    for op in reading.joining_ops() if left else ():
        for number in op.scalars if op.name.startswith(_JOINING) else ():
            found += _cuts(reading, op, _in_number(float(number), [one for one in left if one.at <= op.index]))
    return sorted(found, key=lambda cut: cut.at)


def _is_untrained(reading: Reading, leave: Leaving, trained: set[int]) -> bool:
    maker = reading.maker_at(leave.key, leave.at)
    return maker is not None and maker in reading.tainted and maker not in trained


def _has_history(reading: Reading, term: Seen) -> bool:
    return term.maker is None or any(index in reading.tainted for index in reading.ancestors(term.maker))


def _in_tensor(reading: Reading, op: Op, term: Seen, left: list[Leaving]) -> list[Leaving]:
    """What left torch on the way to the new tensors that a term is made of."""
    assert term.maker is not None
    within = reading.ancestors(term.maker)
    read = {seen.key for index in within | {op.index} for seen in reading.ops[index].inputs}
    made = {enter.at for enter in reading.borders.entering if enter.key in read}
    values = [value for index in within for value in reading.trace.lifted.get(index, ())]
    by_list = [leave for leave in left if leave.how == "tensor" and leave.at in made]
    return by_list or [
        leave
        for value in values
        for leave in _behind(value, [one for one in left if one.at <= op.index], digits=0, within=_EXACT_IN_FLOAT32)
    ]


def _in_number(number: float, left: list[Leaving]) -> list[Leaving]:
    return _behind(number, left, digits=_DIGITS_OF_WEIGHTS, within=_EXACT)


def _behind(number: float, left: list[Leaving], *, digits: int, within: float) -> list[Leaving]:
    """The numbers that left on one line, if this one is their sum, their mean or one of them, times a weight."""
    by_line: dict[Location, list[Leaving]] = {}
    for leave in left:
        if leave.how == "item" and isinstance(leave.value, float) and math.isfinite(leave.value):
            by_line.setdefault(leave.place.location(), []).append(leave)
    for leaving in by_line.values():
        values = [float(leave.value) for leave in leaving]
        total = math.fsum(values)
        for one in (*values, total, total / len(values)):
            if not _is_round(one, _DIGITS_OF_RESULTS, _EXACT) and _is_weighed(number, one, digits, within):
                return leaving
    return []


def _is_weighed(number: float, by: float, digits: int, within: float) -> bool:
    for one in (by, 1 - by):
        factor = number / one if one else 0.0
        if factor and (_is_round(factor, digits, within) if digits else abs(factor - 1) <= within):
            return True
    return False


def _is_round(number: float, digits: int, within: float) -> bool:
    return abs(number - float(f"{number:.{digits - 1}e}")) <= within * abs(number)


def _cuts(reading: Reading, op: Op, leaving: list[Leaving]) -> list[Cut]:
    if not leaving:
        return []
    first = leaving[0]
    keys = set().union(*(reading.tainted.get(reading.maker_at(one.key, one.at) or 0, set()) for one in leaving))
    read = op.place.location() if op.place else None
    cut = Cut(first.how, first.how, first.place.location(), first.place.expression(), read=read, keys=keys, at=first.at)
    return [cut] if keys else []
