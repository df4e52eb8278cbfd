"""The steps that are compared between ranks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from torchmedic.facts import RankStep, Run, WrapperPassed

ALONE = "one process has nobody to differ from; weights will drift apart as soon as there are two"
_TOLERANCE = 1e-5


def steps_of(run: Run) -> dict[int, dict[int, RankStep]]:
    """By step, by rank; only steps that all ranks have made."""
    found: dict[int, dict[int, RankStep]] = {}
    for rank in run.ranks:
        for seen in rank.all(RankStep):
            found.setdefault(seen.step or 0, {})[rank.info.rank] = seen
    return {step: found[step] for step in sorted(found) if len(found[step]) == len(run.ranks)}


def own_steps(run: Run) -> dict[int, dict[int, RankStep]]:
    """The same where one rank tells enough: a group of one process, which was meant to grow, is heard as well."""
    return steps_of(run) if run.ranks else {seen.step or 0: {0: seen} for seen in run.all(RankStep)}


def keeps_step(run: Run) -> bool:
    """Whether all ranks made as many steps: under `Join` they need not, and the same number is another moment then."""
    return len({rank.info.steps for rank in run.ranks if rank.info.ended}) < 2


def differing(by_rank: Mapping[int, RankStep | WrapperPassed]) -> Iterator[tuple[str, float, float]]:
    """Parameters whose norms differ between ranks, with the smallest and the largest."""
    first = next(iter(by_rank.values()))
    for name in first.norms:
        values = [seen.norms[name] for seen in by_rank.values() if name in seen.norms]
        low, high = min(values), max(values)
        if math.isfinite(low) and math.isfinite(high) and high - low > _TOLERANCE * max(abs(high), 1e-12):
            yield name, low, high


def parted_since(run: Run) -> tuple[int, int | None, tuple[str, float, float]] | None:
    """The first compared step after which weights differ, the last after which they did not, and a parameter."""
    if not keeps_step(run):
        return None
    equal = None
    for step, by_rank in steps_of(run).items():
        found = next(differing(by_rank), None)
        if found is not None:
            return step, equal, found
        equal = step
    return None
