"""Finds the line of a data set or `collate_fn` that made one sample bad, by fetching that sample again in a fork.

A run of several ranks is not started a second time: what one of them read is fetched again where it was read.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from torchmedic.facts import Birth, Source, from_plain, to_plain
from torchmedic.probes.crash.refetch import Tell, told_by_fork
from torchmedic.probes.events.loaders import base_of
from torchmedic.replay.beginnings import Handed
from torchmedic.replay.preparation import LineWatch


def births_of_sample(handed: tuple[Handed, ...], source: Source) -> list[Birth]:
    """The births seen while the first bad sample of a batch is made once more."""
    given = next((g for g in reversed(handed) if source.sample in _indices(g)), None)
    iterator = given.iterator() if given is not None and given.iterator is not None else None
    if given is None or iterator is None or threading.current_thread() is not threading.main_thread():
        return []
    dataset, collate = base_of(iterator._dataset), iterator._collate_fn if iterator._auto_collation else None
    told = told_by_fork(lambda tell: _make_again(tell, dataset, source.sample, _indices(given), collate))
    births = [from_plain(Birth, plain) for plain in told.get("births", ())]
    # What was bad before the sample was asked for was made elsewhere, by a line that only a second run can see.
    return births if any(_is_made_here(birth) for birth in births) else []


def _is_made_here(birth: Birth) -> bool:
    return not any((read.tensor.nan or 0) + (read.tensor.inf or 0) for read in birth.operands)


def _indices(given: Handed) -> list[Any]:
    return list(given.indices) if isinstance(given.indices, (list, tuple)) else []


def _make_again(
    tell: Tell, dataset: Any, sample: int | None, indices: list[Any], collate: Callable[[Any], Any] | None
) -> None:
    """In the fork: the sample by itself; where it is finite, the batch that it was put into."""
    births = _watched(lambda: dataset[sample])
    if not births and collate is not None:
        samples = [dataset[index] for index in indices]
        births = _watched(lambda: collate(samples))
    tell(births=[to_plain(birth) for birth in births])


def _watched(make: Callable[[], Any]) -> list[Birth]:
    # The fork is ended from outside when it takes too long.
    lines = LineWatch(late=lambda: None)
    lines.begin()
    try:
        make()
    finally:
        births = lines.end()
    return births
