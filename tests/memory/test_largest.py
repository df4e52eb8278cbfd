"""The search for the largest size that fits, on plans made by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from torchmedic.checkups.memory.asking import Request
from torchmedic.checkups.memory.cards import Card, card_named
from torchmedic.checkups.memory.growth import fit
from torchmedic.checkups.memory.summing import blocks_of
from torchmedic.cli._memory_axes import Axis, Sweep, around, batch_axis
from torchmedic.cli._memory_drivers import drivers
from torchmedic.cli._memory_largest import Largest, Spent, largest_that_fits
from torchmedic.facts import Location, MemoryPlan
from torchmedic.facts.memory_plan import BigTensor, LineShare

_MIB = 1 << 20
_CARD = card_named("1GiB")


def _plan(size: int, each: int) -> MemoryPlan:
    peak = 20 * _MIB + each * size
    return MemoryPlan(
        mode="fake-cuda",
        card="1GiB",
        steps=2,
        peak_allocated=peak,
        peak_reserved=peak,
        peak_requested=peak,
        context=0,
        phase="backward",
        peak_step=1,
        phase_peaks={"backward": peak},
    )


@dataclass(frozen=True)
class _Answering(Axis):
    """An axis whose script needs `each` bytes for a sample, and cannot be followed beyond `able`."""

    each: int = _MIB
    able: int = 1 << 40

    def ask(self, _command: Sequence[str], _request: Request, size: int) -> MemoryPlan | None:
        return _plan(size, self.each) if size <= self.able else None


class _Plenty(Spent):
    def left(self) -> float:
        return 100.0


def _found(axis: _Answering, card: Card = _CARD) -> Largest:
    sizes = (axis.current, *around(axis.current, axis.most))
    plans = tuple(_plan(size, axis.each) for size in sorted(sizes))
    sweep = Sweep(axis, tuple(sorted(sizes)), plans, fit(sorted(sizes), [plan.phase_peaks for plan in plans]))
    return largest_that_fits([], Request(), card, sweep, _Plenty())


def test_blocks_are_summed_with_what_is_inside() -> None:
    held = Counter({"": 5, "net.body.0.linear": 10, "net.body.0.norm": 10, "net.body.1.linear": 20, "head": 3})
    # `net` holds nothing but `net.body`, and `head` nothing but itself.
    assert blocks_of(held) == [("net.body", 40), ("net.body.0", 20), ("net.body.1", 20)]


def test_no_batch_is_larger_than_the_data_set() -> None:
    found = _found(_Answering("batch", current=16, most=100))
    assert found == Largest(100, None, all_data=True)
    assert _found(_Answering("batch", current=80, most=100)) == Largest(100, None, all_data=True)
    assert _found(_Answering("batch", current=100, most=100)) == Largest(100, None, all_data=True)


def test_a_data_set_larger_than_the_card_bounds_nothing() -> None:
    found = _found(_Answering("batch", current=16, most=5000))
    room = (_CARD.usable - 20 * _MIB) // _MIB
    assert not found.all_data
    assert not found.cut_short
    assert 0.97 * room < found.size <= room < (found.too_large or 0)


def test_a_search_that_ends_early_says_so() -> None:
    heavy = _Answering("batch", current=400, able=300)
    assert heavy.each * 800 + 20 * _MIB > _CARD.usable > heavy.each * 400 + 20 * _MIB
    assert _found(heavy) == Largest(400, 800, cut_short=True)


@pytest.mark.parametrize(("flag", "loader", "most"), [(64, 64, 1000), (64, 16, 4000), (64, 48, 0), (64, 0, 0)])
def test_the_data_set_is_counted_in_the_flags_own_unit(flag: int, loader: int, most: int) -> None:
    plan = replace(_plan(1, 1), flags={"--batch-size": flag}, loader_batch=loader, loader_samples=1000)
    axis = batch_axis(["train.py"], plan)
    assert axis is not None
    assert (axis.current, axis.most) == (flag, most)


def _big(where: Location, *shape: int) -> BigTensor:
    size = 4 * shape[0] * shape[1]
    return BigTensor(bytes=size, shape=shape, dtype="float32", category="activations", op="mm", module="", where=where)


def test_the_power_of_growth_is_read_off_the_tensor() -> None:
    """The smallest size has its peak elsewhere: what a line holds there says nothing about its growth."""
    pairs, features = (Location(file="a.py", line=line, function="f", source="") for line in (5, 9))
    plans = []
    for size, little in ((128, 1000), (256, 4 * 256 * 256 * 4), (512, 4 * 512 * 512 * 4)):
        held = size * 300 * 4 + 90_000
        square = _big(pairs, 2 * size, 2 * size)
        row = _big(features, size, 300)
        shares = (LineShare(where=pairs, bytes=little), LineShare(where=features, bytes=held))
        plans.append(replace(_plan(size, 1), by_line=shares, largest=(square, row), peak_allocated=little + held))
    sizes = (128, 256, 512)
    found = Sweep(Axis("bs", "--bs", 256), sizes, tuple(plans), fit(sizes, [plan.phase_peaks for plan in plans]))
    assert [(one.where.line, one.power, one.tensor) for one in drivers(found)] == [
        (5, 2.0, "float32[2 x bs, 2 x bs]"),
        (9, 1.0, "float32[bs, 300]"),
    ]
