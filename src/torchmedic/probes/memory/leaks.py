"""Looks, rarely, for tensors of past steps that are still alive with their graph."""

from __future__ import annotations

import bisect
import gc
import sys
import time
import weakref
from array import array
from dataclasses import field
from types import FrameType
from typing import Any

import torch

from torchmedic.facts import KeptGraph
from torchmedic.journal import Backward, Page
from torchmedic.late import late_dataclass
from torchmedic.probes.memory.unread_piles import UnreadPiles, own_bytes
from torchmedic.probes.objects.keepers import storing_statement
from torchmedic.probes.objects.name_paths import Keeper, keepers_of
from torchmedic.probes.objects.process_memory import held_bytes, resident_bytes
from torchmedic.probes.source.cells import is_notebook
from torchmedic.record import Probe, Recorder

_SETTLED = 5
_FIRST_SCAN = 15
_FURTHER = 2.5
_SOON = 1.1  # to ask again whether there is a reason for a scan costs a look at the system's books
_FREE_SCANS = 3
_MOST_FREE_SCANS = 8
_MOST_OF_TIME = 0.005
_GROWN = 16 << 20  # bytes since the last scan: reason enough to look again
_MOST_MARKS = 200_000
_LEAST_KEPT = 8
_LEAST_HEAVY, _HEAVY = 3, 24 << 20  # fewer are enough, one of each epoch, where their graphs pin much
_LEAST_SPAN = 10
_MOST_NODES = 5_000
_MOST_CHAINS = 60
_MOST_OF_RUN = 0.5


@late_dataclass()
class _Suspect:
    """Something that was kept when it was last looked for, and what it held then."""

    keeper: Keeper
    is_chain: bool
    sample: list[weakref.ref[torch.Tensor]]
    fact: KeptGraph
    scans: int = 1
    confirmed: bool = False


@late_dataclass()
class _Kept:
    """A live tensor that is no leaf, and the number of backward passes before it was made."""

    tensor: torch.Tensor
    made: int


@late_dataclass()
class _Graph:
    """What is behind a tensor: the passes its nodes are from, how many there are, and the bytes that they pin."""

    newest: int
    nodes: int
    freed: bool
    bytes: int
    seen: set[int] = field(default_factory=set)
    passes: set[int] = field(default_factory=set)

    @property
    def oldest(self) -> int:
        return min(self.passes, default=self.newest)

    @property
    def is_chain(self) -> bool:
        """Whether it was carried from pass to pass; what was computed once has nothing from the time between."""
        return self.newest - self.oldest >= _LEAST_SPAN and len(self.passes) > _LEAST_SPAN // 2


class Leaks(Probe):
    """Marks time by autograd's sequence numbers, so that a graph tells by itself in which step it was made."""

    name = "leaks"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._marks: array[int] = array("Q")
        self._next = _FIRST_SCAN
        self._scans = 0
        self._spent = 0.0
        self._began = time.perf_counter()
        self._suspects: dict[tuple[str, bool], _Suspect] = {}
        self._passes = 0
        self._iterator: Any = None
        self._resident = 0
        self._held = 0
        self._piles = UnreadPiles()

    def on_batch(self, batch: Any, iterator: Any) -> None:
        if iterator is not (self._iterator() if self._iterator is not None else None):
            self._passes += 1
            self._iterator = weakref.ref(iterator)

    def on_page(self, lines: Page) -> None:
        if len(self._marks) >= _MOST_MARKS:
            return
        self._marks.extend(line.nodes for line in lines if isinstance(line, Backward))
        count = len(self._marks)
        if count >= _SETTLED and not self._resident:
            self._resident = resident_bytes()
        if count >= self._next:
            may_scan = self._may_scan()
            self._next = int(count * (_FURTHER if may_scan else _SOON)) + 1
            if may_scan:
                self._scan(sys._getframe(1), at_end=False)

    def on_finish(self) -> None:
        if len(self._marks) >= _LEAST_SPAN:
            self._scan(None, at_end=True)
        for suspect in self._suspects.values():
            if suspect.confirmed:
                self.recorder.observe(suspect.fact)
        for pile in self._piles.found.values():
            self.recorder.observe(pile)

    def _may_scan(self) -> bool:
        if self._scans < _FREE_SCANS or self._spent < _MOST_OF_TIME * (time.perf_counter() - self._began):
            return True
        return self._scans < _MOST_FREE_SCANS and held_bytes() > self._held + _GROWN

    # -- one look ------------------------------------------------------------------------------------------------

    def _scan(self, frame: FrameType | None, *, at_end: bool) -> None:
        started = time.perf_counter()
        self._scans += 1
        plain = _plain_tensors()
        kept = [_Kept(t, self._time_of(t.grad_fn)) for t in plain if t.grad_fn is not None]
        # In a notebook a later cell may read what this one piles up.
        if not is_notebook():
            self._piles.look([t for t in plain if t.grad_fn is None], len(self._marks), frame)
        self._look_for_containers([k for k in kept if k.made <= len(self._marks) - 2], frame, at_end)
        self._look_for_chains(kept, frame, at_end)
        self._retract(at_end)
        self._held = held_bytes()
        self._spent += time.perf_counter() - started

    def _time_of(self, node: Any) -> int:
        try:
            return bisect.bisect_left(self._marks, node._sequence_nr())
        except (AttributeError, OverflowError, TypeError):
            return len(self._marks)

    def _look_for_containers(self, old: list[_Kept], frame: FrameType | None, at_end: bool) -> None:
        """Many tensors of many steps: somebody collects them."""
        made = {id(k.tensor): k.made for k in old}
        if len(old) < _LEAST_HEAVY or max(made.values()) - min(made.values()) < _LEAST_SPAN:
            return
        for keeper, tensors in keepers_of([k.tensor for k in old], frame):
            times = sorted(made[id(t)] for t in tensors)
            if not keeper.container or times[-1] - times[0] < _LEAST_SPAN or len(set(times)) <= 2:
                continue
            graph = self._graph(tensors[-1], times[-1])
            if len(tensors) >= _LEAST_KEPT or _is_heavy(keeper, len(tensors), graph):
                self._note(keeper, False, tensors, times[0], times[-1], graph, at_end)

    def _look_for_chains(self, kept: list[_Kept], frame: FrameType | None, at_end: bool) -> None:
        """One tensor whose graph reaches back over many steps."""
        # What no name of the script leads to dies by itself: a step may make more of that than can be looked at.
        held = {id(t) for _, tensors in keepers_of([k.tensor for k in kept], frame) for t in tensors}
        recent = sorted((k for k in kept if id(k.tensor) in held), key=lambda k: -k.made)[:_MOST_CHAINS]
        chains: dict[int, tuple[_Kept, _Graph]] = {}
        for each in recent:
            graph = self._graph(each.tensor, each.made)
            if graph.is_chain:
                chains[id(each.tensor)] = (each, graph)
        found = keepers_of([each.tensor for each, _ in chains.values()], frame) if chains else []
        alone = [each for each in found if each[0].container in ("", "tuple")]
        # A state may have a few parts, one for each class or layer; what holds many collects them.
        parts = [each for each in found if each[0].container in ("list", "dict") and len(each[1]) < _LEAST_KEPT]
        for keeper, tensors in alone or parts:
            newest, graph = chains[id(tensors[0])]
            self._note(keeper, True, tensors[:1], graph.oldest, newest.made, graph, at_end)

    def _graph(self, tensor: torch.Tensor, made: int) -> _Graph:
        graph = _Graph(newest=made, nodes=0, freed=False, bytes=0)
        waiting, seen = [tensor.grad_fn], {tensor.grad_fn}
        while waiting and graph.nodes < _MOST_NODES:
            node: Any = waiting.pop()
            graph.nodes += 1
            if not node.name().endswith("AccumulateGrad"):
                graph.passes.add(self._time_of(node))
                if graph.nodes <= 400:
                    _add_saved(graph, node)
            for following, _ in node.next_functions:
                if following is not None and following not in seen:
                    seen.add(following)
                    waiting.append(following)
        return graph

    def _note(
        self, keeper: Keeper, is_chain: bool, tensors: list[Any], first: int, last: int, graph: _Graph, at_end: bool
    ) -> None:
        before = self._suspects.get((keeper.path, is_chain))
        survived = before is not None and (is_chain or _share_alive(before.sample) > 0.9)
        grown = before is None or (first <= before.fact.first + 2 and last > before.fact.last)
        storing = storing_statement(keeper)
        fact = KeptGraph(
            step=self.recorder.step,
            path=keeper.path,
            container=keeper.outermost,
            is_chain=is_chain,
            count=len(tensors),
            first=first,
            last=last,
            freed=graph.freed and not graph.bytes,
            bytes_each=graph.bytes,
            nodes=graph.nodes,
            at_end=at_end,
            passes=self._passes,
            where=storing.where,
            stored=storing.stored,
            value=storing.value,
            never_emptied=storing.never_emptied,
            resident_growth=max(0, resident_bytes() - self._resident),
            own_bytes=own_bytes(tensors),
            goes_on=storing.goes_on,
            key=keeper.key,
            reaches_back=graph.is_chain,
            most_elements=max(t.numel() for t in tensors),
        )
        sample = [weakref.ref(t) for t in tensors[:: max(1, len(tensors) // 50)]]
        suspect = _Suspect(keeper, is_chain, sample, fact, (before.scans if before else 0) + 1)
        # A window that moves on lets go of what was kept at an earlier look.
        is_new = before is None and at_end and last - first >= _MOST_OF_RUN * len(self._marks)
        # What no backward has freed was never meant to be used: one look is enough.
        suspect.confirmed = is_new or (survived and grown) or not fact.freed
        self._suspects[(keeper.path, is_chain)] = suspect

    def _retract(self, at_end: bool) -> None:
        """What was kept before and is gone now was no leak; at the end, functions have let go of theirs anyway."""
        if at_end:
            return
        for key, suspect in list(self._suspects.items()):
            if not suspect.is_chain and _share_alive(suspect.sample) < 0.5:
                del self._suspects[key]


def _is_heavy(keeper: Keeper, count: int, graph: _Graph) -> bool:
    """Whether a few graphs that no backward will free pin much, in a container that is only ever filled."""
    if graph.freed or count * graph.bytes < _HEAVY or "deque" in (keeper.container, keeper.outermost):
        return False
    return storing_statement(keeper).filled_only


def _plain_tensors() -> list[torch.Tensor]:
    """Every tensor of the process that Python knows of, but for parameters."""
    plain = torch.Tensor  # a local name: this goes over every object of the process
    return [thing for thing in gc.get_objects() if type(thing) is plain]


def _share_alive(sample: list[weakref.ref[torch.Tensor]]) -> float:
    return sum(reference() is not None for reference in sample) / max(1, len(sample))


def _add_saved(graph: _Graph, node: Any) -> None:
    """Count the bytes that a node has saved, or learn that backward has freed them."""
    for name in dir(node):
        if not name.startswith("_saved_"):
            continue
        try:
            saved = getattr(node, name)
        except RuntimeError as error:
            # A parameter that was updated since is refused too, for its version; that says nothing about freeing.
            graph.freed |= "freed" in str(error)
            continue
        for tensor in saved if isinstance(saved, (tuple, list)) else (saved,):
            if isinstance(tensor, torch.Tensor) and not isinstance(tensor, torch.nn.Parameter):
                storage = tensor.untyped_storage()
                if storage.data_ptr() not in graph.seen and not (tensor.is_leaf and tensor.requires_grad):
                    graph.seen.add(storage.data_ptr())
                    graph.bytes += storage.nbytes()
