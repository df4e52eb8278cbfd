"""Terms of a loss that are detached from the weights they should train: others get the gradient, and nobody uses it."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

import torch

from torchmedic.facts import GraphCut
from torchmedic.late import late_dataclass
from torchmedic.probes.graph.cuts import Cut, Reading
from torchmedic.probes.graph.trace import Seen, StorageKey
from torchmedic.probes.objects.marks import has_gradient


@late_dataclass()
class Strayed:
    """A cut above a whole term, and the weights to which the term's gradient goes instead."""

    cut: Cut
    reached: set[StorageKey]


class StrayWatch:
    """Waits whether anybody uses the gradients that a strayed term gave to other weights."""

    def __init__(self) -> None:
        self._waiting: list[tuple[GraphCut, list[weakref.ref[torch.Tensor]]]] = []

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def expect(self, fact: GraphCut, parameters: list[torch.Tensor]) -> None:
        self._waiting.append((fact, [weakref.ref(parameter) for parameter in parameters]))

    def step(self, optimizer: Any) -> None:
        """An optimizer of the other weights steps while their gradients are there: the term trains them, as it may."""
        held = {id(p) for group in optimizer.param_groups for p in group["params"] if p.grad is not None}
        self._waiting = [
            (fact, others) for fact, others in self._waiting if not any(id(other()) in held for other in others)
        ]

    def lost(self) -> list[GraphCut]:
        """At the next backward: those whose gradients have been cleared by now."""
        waiting, self._waiting = self._waiting, []
        return [fact for fact, others in waiting if not any(has_gradient(other) for other in others)]


def strayed_terms(reading: Reading) -> Iterator[Strayed]:
    """Terms computed from the weights in question by way of a `detach`, whose gradient reaches none of them."""
    for term in _terms(reading):
        if term.maker is None or not reading.tainted.get(term.maker):
            continue
        reached = _reached(reading, term.maker)
        if not reached or reached & reading.keys or not reached <= reading.weights:
            continue
        cuts = [
            cut
            for index in sorted(reading.ancestors(term.maker))
            for seen in reading.ops[index].inputs
            if (cut := reading.cut_before(reading.ops[index], seen)) is not None
        ]
        # Other ways to end a graph are no word that somebody wrote in the wrong branch.
        if cuts and all(cut.how == "detach" for cut in cuts):
            yield Strayed(cuts[0], reached)


def _terms(reading: Reading) -> list[Seen]:
    """The operands of the sums at the end of the loss that need a gradient, where there are several."""
    joined = list(reading.joined_terms())
    return [seen for _, seen in joined if seen.requires_grad] if len(joined) > 1 else []


def _reached(reading: Reading, start: int) -> set[StorageKey]:
    """The leaves to which the gradient of a result goes."""
    waiting, done, found = [start], set[int](), set[StorageKey]()
    while waiting:
        index = waiting.pop()
        if index in done:
            continue
        done.add(index)
        for seen in reading.ops[index].inputs:
            if not seen.requires_grad:
                continue
            if seen.key in reading.weights or seen.maker is None:
                found.add(seen.key)
            elif seen.maker < index:
                waiting.append(seen.maker)
    return found
