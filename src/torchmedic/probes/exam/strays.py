"""The exam of gradients that stray: does an update contain what another optimizer's backward has left behind?"""

from __future__ import annotations

import weakref
from dataclasses import field
from typing import Any

import torch

from torchmedic.facts import Location, StrayGradients
from torchmedic.late import late_dataclass
from torchmedic.probes.events.optimizers import Optimizers, parameters_of
from torchmedic.probes.graph.graph_walk import graph, is_leaf_node
from torchmedic.probes.source.frames import user_location
from torchmedic.record import Probe, Recorder

_TURNS_WATCHED = 12
_LAST_STEP = 100
_MOST_VALUES = 50_000
_LEAVES_OF_A_WEIGHT = 2  # `weight_norm` makes one weight of two parameters


@late_dataclass()
class _Visit:
    """A backward of somebody else's turn that passed through an optimizer's parameters."""

    others: frozenset[int]
    where: Location | None
    stepped_by: int | None = None
    stepped: Location | None = None


@late_dataclass()
class _Book:
    """One optimizer: the visit since its last step, and whether its own backward has come on top of it."""

    optimizer: str
    built: Location | None = None
    marks: list[weakref.ref[torch.Tensor]] = field(default_factory=list)
    before: list[torch.Tensor | None] = field(default_factory=list)
    visit: _Visit | None = None
    was_visited: bool = False
    left: torch.Tensor | None = None  # by visits, since the gradients were last clear
    added: torch.Tensor | None = None  # by backwards of its own
    backwards: int = 0  # of its own, since then
    most: int = 0
    mixed: tuple[float, float] | None = None
    turns: int = 0
    strayed: list[tuple[float, float]] = field(default_factory=list)
    own: Location | None = None
    last: _Visit | None = None
    zero_grad: Location | None = None

    def clear(self) -> None:
        self.visit, self.mixed, self.left, self.added = None, None, None, None
        self.backwards = 0


class StrayExam(Probe):
    """Follows, for the first turns of several optimizers, whose backward filled the gradients that each step uses."""

    name = "stray-exam"

    def __init__(self, optimizers: Optimizers) -> None:
        self._optimizers = optimizers

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._books: dict[int, _Book] = {}

    def on_optimizer(self, optimizer: Any) -> None:
        if (over := self._books.pop(id(optimizer), None)) is not None:
            self._report(over)  # its optimizer is gone, and its `id` used again
        self._books[id(optimizer)] = _Book(type(optimizer).__name__, self._optimizers.built_at(optimizer))
        self.recorder.wake(self)

    def on_backward(self, roots: tuple[Any, ...]) -> None:
        for optimizer, book in self._watched():
            book.marks = book.marks or _marks(optimizer)
            book.before = _gradients(book.marks)
            if not any(g is not None and bool(g.any()) for g in book.before):
                book.clear()

    def on_backward_done(self, roots: tuple[Any, ...]) -> None:
        watched = self._watched()
        touched = {id(optimizer): optimizer for optimizer, book in watched if _is_touched(book)}
        if not touched:
            return
        place = user_location()
        beyond = _beyond(tuple(t for t in roots if isinstance(t, torch.Tensor)), touched) if len(touched) > 1 else {}
        for optimizer, book in watched:
            if id(optimizer) not in touched:
                continue
            others = frozenset(beyond.get(id(optimizer), ()))
            if others:
                book.visit = book.visit or _Visit(others, place)
                book.left = _sum(book.left, _change(book))
            elif book.visit is None or not book.visit.others & touched.keys():
                book.added = _sum(book.added, _change(book))
                book.backwards += 1
                book.most = max(book.most, book.backwards)
                self._mix(book, place)

    def on_zero_grad(self, optimizer: Any) -> None:
        book = self._books.get(id(optimizer))
        if book is not None and not self.recorder.clock_is_held:
            book.clear()
            book.zero_grad = book.zero_grad or user_location()

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self.recorder.clock_is_held:
            return
        place: Location | None = None
        for other in self._books.values():
            if other.visit is not None and other.visit.stepped_by is None and id(optimizer) in other.visit.others:
                place = place or user_location()
                other.visit.stepped_by, other.visit.stepped = id(optimizer), place
                other.was_visited = True
        book = self._books.get(id(optimizer))
        if book is None:
            return
        book.turns += book.was_visited
        book.strayed += [book.mixed] if book.mixed is not None else []
        book.was_visited = False
        book.clear()

    def on_step_done(self, optimizer: Any) -> None:
        enough = any(book.turns >= _TURNS_WATCHED for book in self._books.values())
        if enough or self.recorder.step > _LAST_STEP:
            self.recorder.rest(self)

    def on_finish(self) -> None:
        for book in self._books.values():
            self._report(book)

    def _report(self, book: _Book) -> None:
        if book.last is None or not book.strayed:
            return
        other = self._books.get(book.last.stepped_by or 0)
        self.recorder.observe(
            StrayGradients(
                step=self.recorder.step,
                optimizer=book.optimizer,
                other=other.optimizer if other is not None else "",
                turns=book.turns,
                strayed=len(book.strayed),
                backwards=book.most,
                agreement=sum(cosine for cosine, _ in book.strayed) / len(book.strayed),
                share=sum(share for _, share in book.strayed) / len(book.strayed),
                backward=book.own,
                stray_backward=book.last.where,
                other_stepped=book.last.stepped,
                zero_grad=book.zero_grad,
                built=book.built,
            )
        )

    def _watched(self) -> list[tuple[Any, _Book]]:
        if len(self._books) < 2 or self.recorder.clock_is_held:
            return []
        alive = [(o, self._books[id(o)]) for o in self._optimizers.alive() if id(o) in self._books]
        return alive if len(alive) > 1 else []

    def _mix(self, book: _Book, place: Location | None) -> None:
        """An optimizer's own backward has added to what the visits of another one's turn had left."""
        if book.visit is None or book.visit.stepped_by is None or book.left is None or book.added is None:
            return
        share = float(book.left.norm() / book.added.norm().clamp_min(1e-30))
        book.mixed = (float(torch.cosine_similarity(book.left, book.added, dim=0)), share)
        book.own, book.last = place, book.visit


def _change(book: _Book) -> torch.Tensor:
    """What the backward that has just run added to an optimizer's gradients."""
    added = []
    for mark, old, new in zip(book.marks, book.before, _gradients(book.marks), strict=True):
        size = parameter.numel() if (parameter := mark()) is not None else 0
        change = new if old is None else (new - old if new is not None else None)
        added.append(
            change.flatten().double() if change is not None else torch.zeros(size, dtype=torch.double, device="cpu")
        )
    return torch.cat([part.cpu() for part in added])


def _sum(before: torch.Tensor | None, more: torch.Tensor) -> torch.Tensor:
    return more if before is None or before.shape != more.shape else before + more


def _marks(optimizer: Any) -> list[weakref.ref[torch.Tensor]]:
    """The smallest parameters of an optimizer, as many as are cheap to copy."""
    marks: list[weakref.ref[torch.Tensor]] = []
    room = _MOST_VALUES
    for parameter in sorted(parameters_of(optimizer), key=lambda p: p.numel()):
        room -= parameter.numel()
        if room < 0 and marks:
            break
        marks.append(weakref.ref(parameter))
    return marks


def _gradients(marks: list[weakref.ref[torch.Tensor]]) -> list[torch.Tensor | None]:
    alive = [mark() for mark in marks]
    return [_copy(p.grad) if p is not None and p.grad is not None else None for p in alive]


def _copy(gradient: torch.Tensor) -> torch.Tensor:
    return gradient.detach().to_dense() if gradient.layout != torch.strided else gradient.detach().clone()


def _is_touched(book: _Book) -> bool:
    """Whether the backward that has just run added to an optimizer's gradients."""
    now = _gradients(book.marks)
    return any(
        new is not None and bool(new.any()) if old is None else new is not None and not torch.equal(old, new)
        for old, new in zip(book.before, now, strict=True)
    )


def _beyond(roots: tuple[torch.Tensor, ...], optimizers: dict[int, Any]) -> dict[int, set[int]]:
    """For each optimizer the others whose parameters a backward reaches only upstream of this one's layers.

    A layer of an optimizer is a node that reads one of its weights and something computed from another's parameters.
    """
    owner = {id(p): key for key, o in optimizers.items() for g in o.param_groups for p in g["params"]}
    following: dict[Any, list[Any]] = {}
    for node, next_node in graph(roots):
        following.setdefault(node, []).append(next_node)
    leaves: dict[Any, frozenset[int]] = {}
    beyond: dict[int, set[int]] = {key: set() for key in optimizers}
    # What was computed earlier has the smaller number: leaves are known before the nodes that read them.
    for node in sorted(following, key=lambda node: node._sequence_nr()):
        parts = [_leaves_of(part, leaves) for part in following[node]]
        leaves[node] = frozenset().union(*parts)
        owners = [{owner[leaf] for leaf in part if leaf in owner} for part in parts]
        for part, held in zip(parts, owners, strict=True):
            if len(held) == 1 and len(part) <= _LEAVES_OF_A_WEIGHT:
                beyond[next(iter(held))].update(*(other for other in owners if other != held))
    return {key: {o for o in others if o != key and key not in beyond[o]} for key, others in beyond.items()}


def _leaves_of(node: Any, known: dict[Any, frozenset[int]]) -> frozenset[int]:
    if is_leaf_node(node):
        variable = getattr(node, "variable", None)
        return frozenset({id(variable)}) if variable is not None else frozenset()
    return known.get(node, frozenset())
