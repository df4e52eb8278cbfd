"""From the books to the plan: what the peak is made of, by category, module, line and tensor."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import torch

from torchmedic.checkups.memory.course import category_of, course_of
from torchmedic.checkups.memory.dimensions import dimensions_of, edge_counts, terms_of
from torchmedic.facts import Location
from torchmedic.facts.memory_plan import Assumption, BigTensor, LineShare, LostTrack, MemoryPlan, ModuleShare

if TYPE_CHECKING:
    from torchmedic.checkups.memory.ledger import Holding
    from torchmedic.checkups.memory.pretending import Pretence

_MOST_ROWS = 40
_LARGEST = 10
_DEEPEST = 3
_ALL_OF_IT = 0.95


def make_plan(pretence: Pretence, steps: int, began: float, mode: str, lost: LostTrack | None) -> MemoryPlan:
    """The plan of everything that was booked."""
    ledger = pretence.ledger
    held = ledger.holdings_at_peak()
    dimensions = dimensions_of(pretence.world.inputs, _model_sizes(held), {length for h in held for length in h.shape})
    return MemoryPlan(
        mode=mode,
        card=pretence.card.name,
        steps=steps,
        peak_allocated=ledger.peak,
        peak_reserved=ledger.allocator.peak_reserved,
        peak_requested=ledger.allocator.peak_requested,
        context=pretence.card.context,
        phase=ledger.peak_phase,
        peak_step=ledger.peak_step + 1,
        where=ledger.peak_origin.where,
        module=ledger.peak_origin.module,
        **shares_of(held),
        phase_peaks=dict(ledger.phase_peaks),
        course=course_of(ledger.log, ledger.peak_step),
        step_peaks=tuple(ledger.step_peaks[step] for step in sorted(ledger.step_peaks) if step < max(steps, 1)),
        assumed=tuple(
            Assumption(what=what, where=where, times=times) for (where, what), times in pretence.world.assumed.items()
        ),
        lost=lost,
        dimensions=dimensions,
        terms=terms_of(((h.shape, h.bytes) for h in held), dimensions, edge_counts(pretence.world.inputs, dimensions)),
        seconds=time.monotonic() - began,
        torch=str(torch.__version__),
    )


def shares_of(held: list[Holding]) -> dict[str, Any]:
    """The fields of a plan that say what the peak is made of."""
    categories: Counter[str] = Counter()
    by_module: Counter[str] = Counter()
    lines: Counter[Location | None] = Counter()
    # A comprehension is a function of its own on the line of another.
    first_seen: dict[str, Location | None] = {}
    for holding in held:
        categories[category_of(holding)] += holding.bytes
        lines[first_seen.setdefault(str(holding.where), holding.where)] += holding.bytes
        by_module[holding.module] += holding.bytes
    return {
        "by_category": dict(categories.most_common()),
        "by_module": tuple(ModuleShare(module=m, bytes=b) for m, b in by_module.most_common(_MOST_ROWS)),
        "by_block": tuple(ModuleShare(module=m, bytes=b) for m, b in blocks_of(by_module)[:_MOST_ROWS]),
        "by_line": tuple(LineShare(where=w, bytes=b) for w, b in lines.most_common(_MOST_ROWS)),
        "largest": tuple(_big(h) for h in sorted(held, key=lambda h: -h.bytes)[:_LARGEST]),
    }


def blocks_of(by_module: Counter[str]) -> list[tuple[str, int]]:
    """Modules with what is inside them, down to a depth; not those that hold hardly more than one inside."""
    whole: Counter[str] = Counter()
    for path, count in by_module.items():
        parts = path.split(".")
        for depth in range(1, min(len(parts), _DEEPEST) + 1):
            whole[".".join(parts[:depth])] += count
    largest: Counter[str] = Counter()
    for path, count in whole.items():
        parent = path.rpartition(".")[0]
        largest[parent] = max(largest[parent], count)
    return [
        (path, count)
        for path, count in whole.most_common()
        if path and largest[path] < _ALL_OF_IT * count and count > by_module[path]
    ]


def _model_sizes(held: list[Holding]) -> set[int]:
    """Lengths that occur in the parameters: a size of the data that equals one could not be told from it."""
    return {length for h in held if category_of(h) == "parameters" for length in h.shape}


def _big(holding: Holding) -> BigTensor:
    return BigTensor(
        bytes=holding.bytes,
        shape=holding.shape,
        dtype=holding.dtype,
        category=category_of(holding),
        op=holding.op.removeprefix("aten.").split(".")[0],
        module=holding.module,
        where=holding.where,
    )
