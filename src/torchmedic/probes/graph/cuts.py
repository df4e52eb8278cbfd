"""Reads the trace of a step: on which operation do the weights lose their way to the loss."""

from __future__ import annotations

import bisect
import functools
import re
from collections.abc import Callable, Iterator
from dataclasses import field
from typing import Any

from torchmedic.facts import Location
from torchmedic.late import late_dataclass
from torchmedic.probes.graph.trace import Op, Place, Seen, StorageKey
from torchmedic.probes.graph.traced_step import Borders, Leaving, StepTrace
from torchmedic.probes.source.sources import grad_free_block, grad_switched_off

# Differentiable by name, with derivative 0 everywhere.
_FLAT = ("Round", "Floor", "Ceil", "Sign", "Trunc", "Heaviside")
_ADDING = ("aten.add.", "aten.sub.", "aten.rsub.", "aten.neg.", "aten.mean.", "aten.sum.", "aten.div.", "aten.mul.")
# A term that is cut on purpose is cut with these; of weights alone it would be a penalty that punishes nothing.
# What leaves as numbers, one by one.
_NUMBERS = ("item", "tensor")
_ON_PURPOSE = ("data", "detach")
_SWITCHED_OFF = ("no_grad", "library")
_RESHAPING = ("aten.view.", "aten.squeeze.", "aten.unsqueeze.", "aten.stack.", "aten.select.", "aten._to_copy.")

# These read the form of a tensor, such as the mask of a dropout does, and none of its values.
_FORM_ONLY = re.compile(r"aten\.(\w+_like|new_\w+)\.")


@late_dataclass()
class Root:
    """A tensor from which backward ran, in the traced step."""

    maker: int | None
    key: StorageKey
    is_leaf: bool
    node: object
    place: Location | None
    followed_by: set[int] = field(default_factory=set)


@late_dataclass()
class Cut:
    """The place where a gradient ends that should go on."""

    how: str
    op: str
    where: Location | None
    expression: str
    callee: str = ""
    read: Location | None = None
    keys: set[StorageKey] = field(default_factory=set)
    rebuilt: Location | None = None
    at: int = 0
    by_numbers: bool = True  # what it cut goes on to the loss as numbers, through which a gradient could come


class Reading:
    """One trace with the storages of the weights in question."""

    def __init__(
        self, trace: StepTrace, borders: Borders, root: Root, keys: set[StorageKey], weights: set[StorageKey]
    ) -> None:
        self.trace = trace
        self.borders = borders
        self.root = root
        self.keys = keys
        self.weights = weights | keys
        self.ops = trace.ops
        self.tainted = self._taint()

    def _taint(self) -> dict[int, set[StorageKey]]:
        """For each forward operation, the weights in question that its result was computed from."""
        found: dict[int, set[StorageKey]] = {}
        for op in self.ops:
            if op.phase != "forward":
                continue
            of: set[StorageKey] = set()
            for seen in op.inputs:
                if seen.key in self.weights:
                    of |= {seen.key} & self.keys
                elif seen.maker in found:
                    of |= found[seen.maker]
            if of:
                found[op.index] = of
        return found

    def reads(self) -> set[StorageKey]:
        """The weights in question that the step read at all."""
        return {seen.key for op in self.ops if op.phase == "forward" for seen in op.inputs if seen.key in self.keys}

    def above_root(self) -> set[int]:
        if self.root.maker is None:
            return set()
        return self.ancestors(self.root.maker)

    def ancestors(self, start: int) -> set[int]:
        """The operations behind a result. Weights are where it ends: an update in the trace made them, not the step."""
        waiting, done = [start], set[int]()
        while waiting:
            index = waiting.pop()
            op = self.ops[index]
            if index in done or op.phase != "forward":
                continue
            done.add(index)
            inputs = [seen for seen in op.inputs if seen.key not in self.weights]
            waiting += [seen.maker for seen in inputs if seen.maker is not None and seen.maker < index]
        return done

    def cuts(self) -> list[Cut]:
        """Every place on the way from the weights to the loss where a tensor stops needing a gradient.

        What goes on as a choice only, such as an action that was drawn, would bring no gradient: it stands last.
        """
        above, numbers = self.above_root(), self._ways_of_numbers(self.root.maker)
        found: dict[tuple[str, Location | None], Cut] = {}
        for index in sorted(above):
            op = self.ops[index]
            for seen in op.inputs:
                cut = self.cut_before(op, seen)
                if cut is not None:
                    cut.by_numbers = seen.is_float and index in numbers
                    known = found.setdefault((cut.how, cut.where), cut)
                    known.keys |= cut.keys
                    known.by_numbers |= cut.by_numbers
        return sorted(found.values(), key=lambda cut: (not cut.by_numbers, cut.at))

    def _ways_of_numbers(self, end: int | None) -> set[int]:
        """The operations whose result comes to another one by way of floating-point values alone."""
        waiting, done = [end] if end is not None else [], set[int]()
        while waiting:
            index = waiting.pop()
            op = self.ops[index]
            if index in done or op.phase != "forward" or _FORM_ONLY.match(op.name):
                continue
            done.add(index)
            waiting += [i.maker for i in op.inputs if i.is_float and i.maker is not None and i.maker < index]
        return done

    def cut_before(self, reader: Op, seen: Seen) -> Cut | None:
        """The cut between a weight-dependent result and an operation that reads it as a constant."""
        if seen.requires_grad:
            return None
        if seen.key in self.weights:
            detached = self._detached(seen.key, seen.maker, reader.index) if seen.key in self.keys else None
            return self._alias_cut(detached, reader, {seen.key}) if detached is not None else None
        if seen.maker is None:
            return None
        taint = self.tainted.get(seen.maker)
        if not taint:
            return None
        detached = self._detached(seen.key, seen.maker, reader.index)
        if detached is not None:
            return self._alias_cut(detached, reader, taint)
        made = self.ops[seen.maker]
        if made.index not in self.tainted or made.phase != "forward":
            return None
        if any(i.requires_grad and (i.key in self.keys or i.maker in self.tainted) for i in made.inputs):
            return self._op_cut(made, reader, taint)
        return None

    def _detached(self, key: StorageKey, maker: int | None, before: int) -> Op | None:
        for op in reversed(self.ops[(maker or 0) : before]):
            if op.name.startswith("aten.detach.") and op.phase == "forward":
                source = op.inputs[0]
                if source.key == key and source.maker == maker and source.requires_grad:
                    return op
        return None

    def _alias_cut(self, op: Op, reader: Op, taint: set[StorageKey]) -> Cut:
        by_data = any(leave.how == "data" and leave.at in (op.index, op.index + 1) for leave in self.borders.leaving)
        return self._cut("data" if by_data else "detach", op, reader, taint)

    def _op_cut(self, op: Op, reader: Op, taint: set[StorageKey]) -> Cut | None:
        if _FORM_ONLY.match(op.name):
            return None
        free = self.trace.grad_free.get(op.index)
        if free is None:
            to_integer = op.name.startswith("aten._to_copy.") and not op.outputs[0].is_float
            return self._cut("integer" if to_integer else "discrete", op, reader, taint)
        if free.in_checkpoint:
            cut = self._cut("checkpoint", op, reader, taint)
            cut.where = free.places[0].location() if free.places else cut.where
            cut.expression = free.places[0].expression() if free.places else ""
            return cut
        if free.in_function:
            return None
        block = _enclosing(free.places) or (None if free.callee else grad_switched_off())
        cut = self._cut("no_grad" if block else "library", op, reader, taint)
        cut.where, cut.callee = block or cut.where, free.callee
        return cut

    def _cut(self, how: str, op: Op, reader: Op, taint: set[StorageKey]) -> Cut:
        return Cut(
            how=how,
            op=op.name,
            where=op.place.location() if op.place else None,
            expression=op.place.expression() if op.place else "",
            read=reader.place.location() if reader.place else None,
            keys=set(taint),
            at=op.index,
        )

    def exits(self) -> list[Cut]:
        """Where results of the weights left torch, so that what came back is a constant."""
        found: dict[Location, Cut] = {}
        above = self.above_root()
        for leave in self.borders.leaving:
            taint = self._taint_at(leave.key, leave.at)
            back = self._came_back(leave, above)
            if leave.how in ("data", "copy") or not taint or not self._needed_gradient(leave):
                continue
            if not back and not self.root.is_leaf:
                continue
            where = leave.place.location()
            cut = found.setdefault(where, Cut(leave.how, leave.how, where, leave.place.expression(), at=leave.at))
            cut.keys |= taint
            cut.rebuilt = back or cut.rebuilt
        return sorted(found.values(), key=lambda cut: cut.at)

    def _taint_at(self, key: StorageKey, at: int) -> set[StorageKey]:
        maker = self.maker_at(key, at)
        return self.tainted.get(maker, set()) if maker is not None else {key} & self.keys

    def maker_at(self, key: StorageKey, at: int) -> int | None:
        """The forward operation that last gave something in this storage, before the operation with that number."""
        makers = self._makers.get(key, [])
        before = bisect.bisect_left(makers, at)
        return makers[before - 1] if before else None

    @functools.cached_property
    def _makers(self) -> dict[StorageKey, list[int]]:
        """The forward operations that gave something in a storage, in their order."""
        found: dict[StorageKey, list[int]] = {}
        for op in self.ops:
            for seen in op.outputs if op.phase == "forward" else ():
                found.setdefault(seen.key, []).append(op.index)
        return found

    def _needed_gradient(self, leave: Leaving) -> bool:
        """NumPy takes only what was detached before."""
        return leave.needs_grad or (leave.how not in _NUMBERS and self._detached_before(leave.key, leave.at))

    def _detached_before(self, key: StorageKey, at: int) -> bool:
        detaching = (op for op in self.ops[:at] if op.name.startswith("aten.detach."))
        return any(op.inputs[0].key == key and op.inputs[0].requires_grad for op in detaching)

    def _came_back(self, leave: Leaving, above: set[int]) -> Location | None:
        """The line at which what left came back: a new tensor on the way to the loss, or the number itself."""
        for enter in self.borders.entering:
            if enter.at >= leave.at and (enter.key == self.root.key or self._is_read(enter.key, enter.at, above)):
                return enter.place.location()
        for index in sorted(index for index in above if index >= leave.at):
            op = self.ops[index]
            if op.place is not None and (self._brings_in(op, leave) or _uses_number(op, leave)):
                return op.place.location()
        return None

    def _brings_in(self, op: Op, leave: Leaving) -> bool:
        """A tensor made of plain values, or one from nowhere that has the form of what left."""
        if leave.how in _NUMBERS:
            return False
        unknown = [seen for seen in op.inputs if seen.maker is None and seen.key not in self.weights and seen.is_float]
        return op.name.startswith("aten.lift_fresh.") or any(seen.shape == leave.shape for seen in unknown)

    def _is_read(self, key: StorageKey, after: int, above: set[int]) -> bool:
        return any(seen.key == key for index in above if index >= after - 1 for seen in self.ops[index].inputs)

    def lost_terms(self) -> list[Cut]:
        """Cuts above a whole term of the loss: added to it, and without any effect on any gradient."""
        found: list[Cut] = []
        for op, seen in self.constant_terms():
            if seen.maker is None or seen.maker not in self.tainted:
                continue
            within = self.ancestors(seen.maker)
            told = (
                *_SWITCHED_OFF,
                "discrete",
                "integer",
                "copy",
                *(_ON_PURPOSE if self._is_of_weights(within) else ()),
            )
            numbers = self._ways_of_numbers(seen.maker) | {op.index}
            for index in sorted(within | {op.index}):
                for part in self.ops[index].inputs:
                    cut = self.cut_before(self.ops[index], part)
                    if cut is not None and self._is_copied(cut):
                        cut.how = "copy"
                    is_draw = cut is not None and cut.how in _SWITCHED_OFF and index not in numbers
                    if cut is not None and cut.how in told and not is_draw:
                        found.append(cut)
        return sorted(found, key=lambda cut: cut.at)

    def _is_copied(self, cut: Cut) -> bool:
        """Whether `torch.tensor` of a tensor cuts here: it detaches, and nobody has said so."""
        return cut.how == "detach" and any(
            one.how == "copy" and 0 < one.at - cut.at <= 2 for one in self.borders.leaving
        )

    def _is_of_weights(self, within: set[int]) -> bool:
        """Whether a term reads weights and numbers, and nothing of the batch."""
        read = [seen for index in within for seen in self.ops[index].inputs if seen.maker not in within]
        return bool(read) and all(seen.key in self.weights for seen in read)

    def unused_totals(self) -> list[Cut]:
        """Scalars computed from the weights in question and from the root of backward, which nothing uses any more."""
        if self.root.maker is None:
            return []
        read = {seen.maker for op in self.ops if op.phase == "forward" for seen in op.inputs}
        ends = [op for op in self.ops[self.root.maker + 1 :] if op.phase == "forward" and op.index not in read]
        reached = self.tainted.get(self.root.maker, set())
        return [
            self._cut("left-out", op, op, behind)
            for op in ends
            if (behind := self.tainted.get(op.index, set()) - reached)
            and _is_scalar_with_graph(op)
            and self.root.maker in self.ancestors(op.index)
        ]

    def constant_terms(self) -> Iterator[tuple[Op, Seen]]:
        """Operands of the sums at the end of the loss that need no gradient, beside one that does."""
        return ((op, seen) for op, seen in self.joined_terms() if not seen.requires_grad and seen.is_float)

    def joined_terms(self) -> Iterator[tuple[Op, Seen]]:
        """Operands of the sums at the end of the loss, where one of them at least needs a gradient."""
        for op in self.joining_ops():
            if op.name.startswith(("aten.add.", "aten.sub.", "aten.stack.")):
                yield from ((op, seen) for seen in op.inputs)

    def joining_ops(self) -> Iterator[Op]:
        """The operations at the end of the loss by which numbers that need a gradient are added up and scaled."""
        waiting = [self.root.maker] if self.root.maker is not None else []
        done: set[int] = set()
        while waiting:
            op = self.ops[waiting.pop()]
            if op.index in done or not op.name.startswith((*_ADDING, *_RESHAPING)):
                continue
            done.add(op.index)
            if op.name.startswith(("aten.mul.", "aten.div.")) and len(op.inputs) > 1 and not _is_scaling(op):
                continue
            if any(seen.requires_grad for seen in op.inputs):
                yield op
            small = [seen for seen in op.inputs if seen.requires_grad and seen.shape in ((), (1,))]
            waiting += [seen.maker for seen in small if seen.maker is not None]


def _is_scalar_with_graph(op: Op) -> bool:
    """Whether an operation made one number out of something that needs a gradient."""
    return any(seen.requires_grad for seen in op.inputs) and [seen.shape for seen in op.outputs] == [()]


def _uses_number(op: Op, leave: Leaving) -> bool:
    return (
        leave.how == "item"
        and isinstance(leave.value, float)
        and leave.value not in (0.0, 1.0)
        and leave.value in op.scalars
    )


def _is_scaling(op: Op) -> bool:
    constant = [seen for seen in op.inputs if not seen.requires_grad]
    return len(constant) == len(op.inputs) - 1 and any(seen.shape == () for seen in constant)


def _enclosing(places: tuple[Place, ...]) -> Location | None:
    for place in places:
        block = grad_free_block(place.code.co_filename, place.line, place.code.co_qualname)
        if block is not None:
            return block
    return None


def flat_functions(root_node: Any, target: Callable[[Any], bool]) -> list[Any]:
    """Autograd nodes with derivative 0 that stand on every way to the targets; empty when there is a way round."""
    reached, flat = _walk(root_node, skip_flat=True)
    if any(target(node) for node in reached):
        return []
    everywhere, _ = _walk(root_node, skip_flat=False)
    return flat if any(target(node) for node in everywhere) else []


def _walk(start: Any, *, skip_flat: bool) -> tuple[list[Any], list[Any]]:
    waiting, seen = [start], {start}
    reached: list[Any] = []
    flat: list[Any] = []
    while waiting:
        node = waiting.pop()
        reached.append(node)
        if skip_flat and node.name().startswith(_FLAT):
            flat.append(node)
            continue
        for following, _ in node.next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                waiting.append(following)
    return reached, flat
