"""Everything `torchmedic memory` has to say about a script: plan, fit, growth, remedies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from torchmedic.checkups.memory.cards import Card
from torchmedic.cli._memory_auto import dimension_lines, dimensions_json, sweep_all
from torchmedic.cli._memory_axes import Axis, Sweep, batch_axis, grown_from, law_text, sweep
from torchmedic.cli._memory_cures import Tried, try_remedies
from torchmedic.cli._memory_drivers import drivers
from torchmedic.cli._memory_largest import Largest, Spent, largest_that_fits
from torchmedic.cli._memory_runs import answer
from torchmedic.cli._output import OneLineError
from torchmedic.facts import MemoryPlan
from torchmedic.render.memory import plan_json, plan_lines, size_text

if TYPE_CHECKING:
    from torchmedic.checkups.data.options import Progress

_BAR = 40


@dataclass(frozen=True)
class Found:
    """The answer; `fits` is None where no card was named, or the script was left before its peak."""

    plan: MemoryPlan
    card: Card
    fits: bool | None
    growth: Sweep | None
    largest: Largest | None
    tried: tuple[Tried, ...]
    further: tuple[Sweep, ...] = ()
    automatic: bool = False

    @property
    def sound(self) -> bool:
        is_open = self.fits is not None and (self.plan.unreached or self.plan.hoarded)
        return self.plan.lost is None and self.fits is not False and self.plan.peak_allocated > 0 and not is_open

    def lines(self) -> Iterator[str]:
        yield from plan_lines(self.plan)
        if self.fits is not None:
            yield ""
            yield from self._fit_lines()
        for growth in (self.growth, *self.further):
            if growth is not None:
                yield ""
                yield from _growth_lines(growth)
        if self.automatic:
            yield from self._dimension_lines()
        if self.tried:
            yield ""
            yield "remedies, each estimated anew"
            yield from (_remedy_line(one) for one in self.tried)

    def _fit_lines(self) -> Iterator[str]:
        spare = self.card.usable - self.plan.peak_reserved
        verb = "fits" if self.fits else "does not fit"
        if self.fits and (self.plan.unreached or self.plan.hoarded):
            verb = "fits as far as it was followed"
        rest = f"{size_text(abs(spare))} {'to spare' if spare >= 0 else 'too much'}"
        yield f"{self.card.name}: {verb}, {rest} of the {size_text(self.card.usable)} that tensors can have"
        if not self.fits and self.plan.peak_allocated <= self.card.usable:
            yield "  the tensors alone would fit: torch gives cached memory back and tries again, slowly"
        if self.growth is not None and self.largest is not None:
            yield self._largest_line(self.growth.axis, self.largest)

    def _largest_line(self, axis: Axis, found: Largest) -> str:
        now = f" ({axis.current} now)" if axis.current else ""
        if not found.size:
            return f"  no {axis.name} that was tried fits, down to {found.too_large}"
        if found.all_data:
            return f"  every {axis.name} fits, up to all of the data set at once: {found.size}{now}"
        if found.too_large is None:
            return f"  the largest {axis.name} that was tried fits: {found.size}{now}"
        rest = "; the search between them was cut short" if found.cut_short else ""
        return f"  largest {axis.name} that fits: {found.size}{now}; {found.too_large} does not{rest}"

    def _dimension_lines(self) -> Iterator[str]:
        lines = list(dimension_lines(self.plan, self._room() if self.fits is not None else None))
        if lines:
            yield ""
            yield from lines
        elif self.growth is None:
            yield ""
            yield "growth: no size was found, neither a flag of the script, nor a data loader, nor in the shapes"

    def _room(self) -> int:
        """Bytes that tensors can have on the card, beside what the allocator keeps in reserve."""
        return int(self.card.usable * self.plan.peak_allocated / max(self.plan.peak_reserved, 1))

    def blocks(self) -> dict[str, Any]:
        """The `memory` block of the JSON contract."""
        fits = None
        if self.fits is not None:
            axis = self.growth.axis.name if self.growth is not None else None
            fits = {
                "card": self.card.name,
                "memory": self.card.memory,
                "usable": self.card.usable,
                "fits": self.fits,
                "spare": self.card.usable - self.plan.peak_reserved,
                "largest": {"axis": axis, **asdict(self.largest)} if self.largest is not None else None,
            }
        return {
            **plan_json(self.plan),
            "fits": fits,
            "growth": _growth_json(self.growth) if self.growth is not None else None,
            "further_growth": [_growth_json(one) for one in self.further],
            "dimensions": dimensions_json(self.plan) if self.automatic else None,
            "remedies": [
                {
                    "name": one.name,
                    "title": one.title,
                    "peak_allocated": one.allocated if one.is_known else None,
                    "peak_reserved": one.reserved if one.is_known else None,
                    "gain": one.gain if one.is_known else None,
                    "note": one.note,
                }
                for one in self.tried
            ],
        }


def find(
    command: Sequence[str],
    card: Card,
    *,
    named: bool,
    wanted: tuple[Axis, tuple[int, ...]] | None,
    automatic: bool,
    remedies: bool,
    real: bool,
    progress: Progress,
) -> Found:
    """Run the script as often as the question needs."""
    spent = Spent()
    progress.doing = "following the script"
    plan, request = answer(command, card.name, real=real)
    spent.note_first()
    if plan is None:
        raise OneLineError("the script's process ended without an answer; `torchmedic run` may tell why")
    fits = _fits(plan, card) if named else None
    axis = batch_axis(command, plan)
    progress.doing = "following it at other sizes"
    growth = sweep(command, request, *wanted) if wanted and plan.lost is None else None
    swept = tuple(sweep_all(command, request, plan)) if automatic and plan.lost is None else ()
    growth = swept[0] if swept else growth
    if growth is None and named and axis is not None and plan.lost is None:
        growth = grown_from(plan, axis, command, request)
    largest = None
    if growth is not None and named:
        largest = largest_that_fits(command, request, card, growth, spent)
    tried = tuple(try_remedies(command, request, plan, axis, progress)) if remedies and plan.lost is None else ()
    return Found(plan, card, fits, growth, largest, tried, swept[1:], automatic)


def _fits(plan: MemoryPlan, card: Card) -> bool | None:
    """Not known where the script was left before its peak, or came to nothing."""
    if plan.peak_reserved > card.usable:
        return False
    return True if plan.peak_allocated and plan.lost is None else None


def _growth_lines(found: Sweep) -> Iterator[str]:
    name = found.axis.name
    most = max(plan.peak_allocated for plan in found.plans)
    yield f"growth with {name}"
    for size, plan in zip(found.sizes, found.plans, strict=True):
        bar = "#" * max(1, round(_BAR * plan.peak_allocated / most))
        yield f"  {size:>9} {size_text(plan.peak_allocated):>11} {plan.phase:>9}  {bar}"
    for phase, law in sorted(found.growth.laws.items(), key=lambda item: -item[1].at(found.sizes[-1])):
        counts = "  <- the peak" if phase == found.growth.phase_at(found.sizes[-1]) else ""
        yield f"  {phase:>9}: {law_text(law, name)}{counts}"
    if all(plan.phase_peaks == found.plans[0].phase_peaks for plan in found.plans):
        yield f"  memory does not depend on {name}"
    for driver in drivers(found):
        place = f"{driver.where.file}:{driver.where.line}  {driver.where.source.strip()}"
        tensor = f", {driver.tensor}" if driver.tensor else ""
        if driver.power is None:
            yield f"  grows by {size_text(driver.grown)} from nothing{tensor}: {place}"
        else:
            yield f"  grows by {size_text(driver.grown)}, as {name}^{driver.power:.1f}{tensor}: {place}"


def _growth_json(found: Sweep) -> dict[str, Any]:
    return {
        "axis": found.axis.name,
        "points": [
            {"size": s, "peak_allocated": p.peak_allocated, "peak_reserved": p.peak_reserved, "phase": p.phase}
            for s, p in zip(found.sizes, found.plans, strict=True)
        ],
        "laws": {
            phase: {
                "constant": law.constant,
                "linear": law.linear,
                "quadratic": law.quadratic,
                "text": law_text(law, found.axis.name),
            }
            for phase, law in found.growth.laws.items()
        },
        "drivers": [
            {
                "file": d.where.file,
                "line": d.where.line,
                "source": d.where.source.strip(),
                "grown": d.grown,
                "power": round(d.power, 2) if d.power is not None else None,
                "tensor": d.tensor,
            }
            for d in drivers(found)
        ],
    }


def _remedy_line(one: Tried) -> str:
    note = f"; {one.note}" if one.note else ""
    if not one.is_known:
        return f"  {'?':>11} {'':6}  {one.title}{note}"
    # Memory in one piece spares what is reserved beside the tensors, not the tensors.
    left = one.reserved if one.name == "expandable-segments" else one.allocated
    what = " (reserved)" if one.name == "expandable-segments" else ""
    return f"  {size_text(left):>11}  {-one.gain / max(left + one.gain, 1):+6.1%}  {one.title}{what}{note}"
