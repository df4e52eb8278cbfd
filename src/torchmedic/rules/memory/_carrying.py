"""Values that are carried from step to step with their graph, and the containers that only collect them."""

from __future__ import annotations

from torchmedic.facts import KeptGraph, Run

_LEAST_SPAN_OF_FREED = 50


def carried_over(run: Run) -> list[KeptGraph]:
    """The values that go on from their own past.

    What is computed from such a one has the same long graph, and so has what a container collects of it: neither is the
    one to edit.
    """
    chains = [each for each in run.all(KeptGraph) if each.is_chain]
    piles = {each.path for each in run.all(KeptGraph) if not each.is_chain}
    going = [each for each in chains if each.goes_on] or chains
    outside = [each for each in going if each.path not in piles] or going
    return [each for each in outside if not each.freed or each.last - each.first >= _LEAST_SPAN_OF_FREED]


def collections_of(kept: KeptGraph, run: Run) -> list[KeptGraph]:
    """The containers of values whose graphs reach back, as that of a value which is carried over does."""
    piles = [each for each in run.all(KeptGraph) if not each.is_chain and each.reaches_back]
    return [each for each in piles if each.path != kept.path and kept.goes_on]
