"""Data sets that keep one iterator for all passes: from the second pass on, their loaders hand out nothing."""

from __future__ import annotations

import ast
import io
import weakref
from collections.abc import Iterator
from types import FrameType
from typing import Any

from torch.utils.data import IterableDataset

from torchmedic.facts import Location, SpentIterator
from torchmedic.late import late_dataclass
from torchmedic.probes.data.one_shot import described, is_one_shot, is_spent, loop_at, passes_of
from torchmedic.probes.source.expressions import function_of, peek, vars_of
from torchmedic.probes.source.frames import is_user_file, location, location_of, outward, user_frame
from torchmedic.probes.source.making_lines import Place, attribute_made, places_behind
from torchmedic.probes.source.planned_epochs import loops_around, planned_epochs
from torchmedic.record import Probe, Recorder

_MOST_SETS = 12
_MOST_ATTRIBUTES = 50
_MOST_DEPTH = 3


@late_dataclass(frozen=True)
class Kept:
    """An iterator that a data set keeps as `attribute`; without one, the data set is its own iterator."""

    owner: type
    attribute: str
    thing: Any


@late_dataclass()
class _Stream:
    """A data set of which whole passes were seen; `empty` counts those without a batch since the last that had some."""

    dataset: weakref.ref[Any]
    batches: int = 0
    empty: int = 0
    kept: Kept | None = None
    loop: Location | None = None
    passes: int | None = None


@late_dataclass(frozen=True)
class _Held:
    """An object that a loop goes over by itself, kept to see at the end whether its iterator is used up."""

    owner: Any
    kept: Kept
    loop: Location
    passes: int


class SpentStreams(Probe):
    """Hears of each pass's end; one without a batch, after one that had some, shows that `__iter__` begins nothing."""

    name = "spent-streams"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._streams: dict[int, _Stream] = {}
        self._ended: weakref.WeakSet[Any] = weakref.WeakSet()
        self._held: list[_Held] = []
        self._has_crashed = False

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """What the loops around the first step go over without a loader."""
        self.recorder.rest(self)
        if not self.recorder.clock_is_held:
            frames = [f for f in outward(user_frame()) if is_user_file(f.f_code.co_filename)]
            self._held = [held for frame in frames for held in _objects_looped_over(frame)]

    def on_crash(self, error: BaseException) -> None:
        self._has_crashed = True

    def on_end(self, iterator: Any) -> None:
        dataset = iterator._dataset
        is_again = iterator in self._ended and not getattr(iterator, "_persistent_workers", False)
        if self.recorder.clock_is_held or not isinstance(dataset, IterableDataset) or is_again:
            return
        self._ended.add(iterator)
        stream = self._streams.get(id(dataset))
        if stream is None or stream.dataset() is not dataset:
            if len(self._streams) >= _MOST_SETS:
                return
            stream = self._streams[id(dataset)] = _Stream(weakref.ref(dataset))
        handed = int(getattr(iterator, "_num_yielded", 0))
        stream.batches, stream.empty = stream.batches or handed, 0 if handed else stream.empty + 1
        if stream.batches and stream.empty == 1:
            self._look(stream, dataset, iterator)

    def _look(self, stream: _Stream, dataset: Any, iterator: Any) -> None:
        frame = user_frame()
        stream.kept = kept_by(dataset, iterator)
        if frame is None or stream.kept is None:
            return
        loop = loop_at(frame)
        code = frame.f_code
        stream.loop = location(code.co_filename, loop.lineno, code.co_qualname) if loop else location_of(frame)
        plan = planned_epochs(frame)
        stream.passes = plan.epochs if plan is not None else None

    def on_finish(self) -> None:
        for stream in self._streams.values():
            if stream.empty and stream.kept is not None and stream.loop is not None:
                self._tell(stream.kept, stream.loop, stream.passes, stream.empty, stream.batches)
        for held in self._held if not self._has_crashed else ():
            thing = held.kept.thing
            if vars_of(held.owner).get(held.kept.attribute) is thing and is_spent(thing):
                self._tell(held.kept, held.loop, held.passes, held.passes - 1, 0)
        self._streams.clear()
        self._held.clear()

    def _tell(self, kept: Kept, loop: Location, passes: int | None, empty: int, batches: int) -> None:
        start = attribute_made(kept.owner, kept.attribute) if kept.attribute else None
        made = _first_form(start)
        self.recorder.observe(
            SpentIterator(
                step=self.recorder.step,
                name=kept.attribute,
                text=ast.unparse(made.value) if made is not None else "",
                made=made.location() if made is not None else None,
                loop=loop,
                passes=passes,
                empty=empty,
                batches=batches,
                keeper=kept.owner.__name__,
                handed_by=_iter_of(kept.owner),
            )
        )


def kept_by(dataset: Any, iterator: Any) -> Kept | None:
    """What a data set hands out again in every pass, as far as that is known without asking it."""
    given = getattr(getattr(iterator, "_dataset_fetcher", None), "dataset_iter", None)
    if given is dataset:
        return Kept(type(dataset), "", dataset)
    found = list(_one_shots(dataset, _MOST_DEPTH))
    same = [kept for kept in found if kept.thing is given]
    spent = [kept for kept in found if is_spent(kept.thing)]
    # What workers have used up is theirs: the one of this process is as new.
    chosen = same or spent or found
    return chosen[0] if len(chosen) == 1 else None


def _objects_looped_over(frame: FrameType) -> Iterator[_Held]:
    """Objects of the user's classes whose `__iter__` does no more than hand out an iterator that they keep."""
    for loop in loops_around(frame):
        for node in (n for n in ast.walk(loop.iter) if isinstance(n, ast.Name)):
            owner = peek(node, frame)
            attribute = _handed_out(type(owner))
            thing = vars_of(owner).get(attribute) if attribute else None
            passes = passes_of(described(node, owner, thing, frame), frame) if is_one_shot(thing) else None
            if passes is not None:
                where = location(frame.f_code.co_filename, loop.lineno, frame.f_code.co_qualname)
                yield _Held(owner, Kept(type(owner), attribute, thing), where, passes)


def _handed_out(kind: type) -> str:
    """The attribute that is all of what an `__iter__` of the user's goes over."""
    code = getattr(getattr(kind, "__iter__", None), "__code__", None)
    function = function_of(code) if code is not None and is_user_file(code.co_filename) else None
    body = [s for s in function.body if not isinstance(getattr(s, "value", None), ast.Constant)] if function else []
    if len(body) != 1:
        return ""
    only = body[0]
    given = only.iter if isinstance(only, ast.For) else getattr(only, "value", None)
    given = given.value if isinstance(given, ast.YieldFrom) else given
    if isinstance(given, ast.Call) and ast.unparse(given.func) in ("iter", "enumerate") and given.args:
        given = given.args[0]
    is_own = isinstance(given, ast.Attribute) and ast.unparse(given.value) == "self"
    return given.attr if is_own and isinstance(given, ast.Attribute) else ""


def _one_shots(dataset: Any, depth: int) -> Iterator[Kept]:
    for name, thing in list(vars_of(dataset).items())[:_MOST_ATTRIBUTES]:
        if is_one_shot(thing) or isinstance(thing, io.IOBase) or type(thing).__module__ == "_csv":
            yield Kept(type(dataset), name, thing)
        elif depth and isinstance(thing, IterableDataset):
            yield from _one_shots(thing, depth - 1)


def _first_form(start: Place | None) -> Place | None:
    """Where the value was made: in the class, or by what was handed to it."""
    return next((place for place in places_behind(start) if place.part is None), start)


def _iter_of(kind: type) -> Location | None:
    code = getattr(getattr(kind, "__iter__", None), "__code__", None)
    if code is None or not is_user_file(code.co_filename):
        return None
    return location(code.co_filename, code.co_firstlineno, code.co_qualname)
