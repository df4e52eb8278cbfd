"""After a clash of float64 and float32: which line of the data set makes float64, seen in a sample fetched again."""

from __future__ import annotations

import re
import sys
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import torch
from torch.utils.data import IterableDataset

from torchmedic.facts import Location, WideSample, from_plain, to_plain
from torchmedic.probes.crash.refetch import Tell, told_by_fork
from torchmedic.probes.objects.samples import leaves_of
from torchmedic.probes.source.frames import is_user_file, location, location_of
from torchmedic.record import Probe, Recorder

_MESSAGE = re.compile(r"double|float64", re.IGNORECASE)
_MOST_FIELDS = 6


class WideSamples(Probe):
    """Remembers, weakly, which data set the last batch came from."""

    name = "wide-samples"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._iterator: Any = None
        self._dataset: Any = None
        self._collate: Any = None

    def on_batch(self, batch: Any, iterator: Any) -> None:
        if self._iterator is None or self._iterator() is not iterator:
            self._iterator = weakref.ref(iterator)
            self._dataset = _weakly(iterator._dataset)
            self._collate = _weakly(iterator._collate_fn)

    def on_crash(self, error: BaseException) -> None:
        dataset = self._dataset() if self._dataset is not None else None
        collate = self._collate() if self._collate is not None else None
        if dataset is None or isinstance(dataset, IterableDataset) or not _MESSAGE.search(str(error)):
            return
        told = told_by_fork(lambda tell: _look(tell, dataset, collate))
        for field in told.get("fields", ())[:_MOST_FIELDS]:
            self.recorder.observe(from_plain(WideSample, field))


def _weakly(thing: Any) -> Any:
    """A weak reference: a data set that the script lets go of must not live on here."""
    try:
        return weakref.ref(thing)
    except TypeError:
        return None


def _look(tell: Tell, dataset: Any, collate: Any) -> None:
    """In the fork: fetch a sample, collate it, and tell where each float64 part was made."""
    births = Births()
    with births.watched():
        sample = dataset[0]
    returned = births.returned
    fields = [_field(dataset, "sample", path, leaf, births.of(leaf) or returned) for path, leaf in _wide_in(sample)]
    tell(fields=[to_plain(field) for field in fields if field is not None])
    if collate is not None and is_user_file(getattr(getattr(collate, "__code__", None), "co_filename", "")):
        with births.watched():
            batch = collate([sample, dataset[0]])
        fields += [_field(dataset, "batch", path, leaf, births.of(leaf)) for path, leaf in _wide_in(batch)]
        tell(fields=[to_plain(field) for field in fields if field is not None])


def _field(dataset: Any, of: str, path: str, leaf: Any, born: Location | None) -> WideSample | None:
    if born is None:
        return None
    form = "float" if isinstance(leaf, float) else type(leaf).__name__
    shape = tuple(int(n) for n in getattr(leaf, "shape", ()))
    # The number of samples in a batch made here is not that of the script's.
    shape = shape[1:] if of == "batch" else shape
    name = path if path == "sample" else f"{of}{path}"
    return WideSample(dataset=type(dataset).__name__, of=of, path=name, form=form, shape=shape, born=born)


def _wide_in(thing: Any) -> list[tuple[str, Any]]:
    return [(path, leaf) for path, leaf in leaves_of(thing) if _is_wide(leaf)]


def _is_wide(thing: Any) -> bool:
    """Whether collating makes float64 of it."""
    if isinstance(thing, torch.Tensor):
        return thing.dtype is torch.float64
    return isinstance(thing, float) or str(getattr(thing, "dtype", "")) == "float64"


class Births:
    """Notes, by tracing the user's lines, on which one each float64 thing was first seen."""

    def __init__(self) -> None:
        self.returned: Location | None = None
        self._places: dict[int, Location] = {}
        self._kept: list[Any] = []  # an object that is freed would leave its number to another one
        self._lines: dict[int, int] = {}

    def of(self, thing: Any) -> Location | None:
        return self._places.get(id(thing))

    @contextmanager
    def watched(self) -> Iterator[None]:
        sys.settrace(self._trace)
        try:
            yield
        finally:
            sys.settrace(None)

    def _trace(self, frame: FrameType, event: str, answer: Any) -> Any:
        if not is_user_file(frame.f_code.co_filename):
            return None
        if event == "call":
            self._lines.pop(id(frame), None)
            if frame.f_back is not None and is_user_file(frame.f_back.f_code.co_filename):
                self._note(list(frame.f_locals.values()), location_of(frame.f_back))
            return self._trace
        last = self._lines.get(id(frame))
        if last is not None:
            place = location(frame.f_code.co_filename, last, frame.f_code.co_qualname)
            self._note(list(frame.f_locals.values()), place)
        if event == "return":
            self.returned = location_of(frame)
            self._note([answer], self.returned)
        self._lines[id(frame)] = frame.f_lineno
        return self._trace

    def _note(self, things: list[Any], place: Location) -> None:
        for thing in things:
            for _, leaf in leaves_of(thing) if isinstance(thing, (tuple, list, dict)) else [("", thing)]:
                if _is_wide(leaf) and id(leaf) not in self._places and not isinstance(leaf, float):
                    self._places[id(leaf)] = place
                    self._kept.append(leaf)
