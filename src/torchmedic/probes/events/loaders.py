"""Remembers where DataLoaders were built and which indices they fetch, to fetch a failed batch again."""

from __future__ import annotations

import functools
import multiprocessing.connection
import os
import re
import shutil
import sys
import traceback
import weakref
from collections import deque
from dataclasses import replace
from types import FrameType
from typing import Any

from torch.utils.data import Subset, _utils, dataloader

from torchmedic.facts import Crash, Location, RefetchedSample
from torchmedic.probes.crash.refetch import Outcome, fetch_again
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.objects.values import type_name
from torchmedic.probes.source.frames import is_user_file, location, user_location
from torchmedic.record import Probe, Recorder, shielded

_LEAST_KEPT = 8
_DEAD_WORKER = re.compile(r"DataLoader worker \(pid(?:\(s\))? ([\d, ]+)\)")
_BROKEN_CONNECTION = re.compile(r"^(?:Connection\w*Error|EOFError|BrokenPipeError|FileNotFoundError)")
_PATIENCE = 0.5
_SHARED_MEMORY = "/dev/shm"
_MOST_INDICES = 256


class Loaders(Probe):
    """Patches the constructor of DataLoader and the one method through which every sampler index passes."""

    name = "loaders"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._built: weakref.WeakKeyDictionary[Any, Location | None] = weakref.WeakKeyDictionary()
        self._started: weakref.WeakKeyDictionary[Any, dict[str, Any]] = weakref.WeakKeyDictionary()
        self.handed: Any = None  # the indices of the batch that any loader handed out last
        self.handed_from: type | None = None  # the class of the data set that it came from
        self._sent: weakref.WeakKeyDictionary[Any, deque[tuple[int, Any]]] = weakref.WeakKeyDictionary()
        self._patch_constructor()
        self._patch_iterators()

    def remove(self) -> None:
        self._patches.restore()

    def _patch_constructor(self) -> None:
        original = dataloader.DataLoader.__init__
        note = shielded(self)(self._note_built)

        @functools.wraps(original)
        def init(loader: Any, *args: Any, **kwargs: Any) -> None:
            with frame_hidden:
                original(loader, *args, **kwargs)
            note(loader, sys._getframe(1))

        self._patches.replace(dataloader.DataLoader, "__init__", init)

    def _note_built(self, loader: Any, frame: FrameType) -> None:
        if self.recorder.is_ours:
            self._built[loader] = user_location(frame)

    def _patch_iterators(self) -> None:
        start: Any = dataloader._BaseDataLoaderIter.__init__
        following: Any = dataloader._BaseDataLoaderIter._next_index
        note = shielded(self)(self._note_started)
        sent = self._sent

        @functools.wraps(start)
        def init(iterator: Any, loader: Any) -> None:
            note(iterator, loader)
            with frame_hidden:
                start(iterator, loader)

        @functools.wraps(following)
        def next_index(iterator: Any) -> Any:
            with frame_hidden:
                index = following(iterator)
            kept = sent.get(iterator)
            if kept is not None:
                kept.append((getattr(iterator, "_send_idx", -1), index))
            return index

        self._patches.replace(dataloader._BaseDataLoaderIter, "__init__", init)
        self._patches.replace(dataloader._BaseDataLoaderIter, "_next_index", next_index)

    def _note_started(self, iterator: Any, loader: Any) -> None:
        kept = (loader.prefetch_factor or 0) * loader.num_workers + _LEAST_KEPT
        self._sent[iterator] = deque(maxlen=kept)
        # The loader itself may be gone by the time of a crash: `for batch in DataLoader(…)` keeps only the iterator.
        self._started[iterator] = {
            "loader_built": self._built.get(loader),
            "batch_size": loader.batch_size,
            "start_method": _start_method(loader) if loader.num_workers else "",
        }

    def built_at(self, loader: Any) -> Location | None:
        """The user's line that built a loader."""
        return self._built.get(loader)

    def built_for(self, iterator: Any) -> Location | None:
        """The user's line that built the loader of an iterator."""
        built: Location | None = self._started.get(iterator, {}).get("loader_built")
        return built

    def batch_facts(self, iterator: Any) -> tuple[Any, str]:
        """The sampler's indices of the batch an iterator has just handed out, and the data set's class."""
        kept = self._sent.get(iterator)
        self.handed = None
        if not kept:
            return None, type_name(iterator._dataset)
        received = getattr(iterator, "_rcvd_idx", None)
        last = kept[-1][1]
        sent = last if received is None else next((index for number, index in kept if number == received - 1), None)
        dataset, self.handed = below_subsets(iterator._dataset, sent)
        self.handed_from = type(dataset)
        return self.handed, type_name(dataset)

    def on_crash(self, error: BaseException) -> None:
        frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
        iterator = _iterator_in(frames) or self._owner_of_dead_worker(str(error))
        if iterator is None:
            return
        seen = self._describe(iterator, frames, error)
        if seen is not None:
            self.recorder.observe(seen)

    def _owner_of_dead_worker(self, message: str) -> Any:
        """torch notices a dead worker in a signal handler, so that the error may come up on any line."""
        named = _DEAD_WORKER.search(message)
        if named is None:
            return None
        pids = {int(pid) for pid in named.group(1).split(",")}
        alive = (it for it in list(self._sent) if any(w.pid in pids for w in getattr(it, "_workers", ())))
        return next(alive, None)

    def _describe(self, iterator: Any, frames: list[FrameType], error: BaseException) -> RefetchedSample | None:
        dataset, _ = below_subsets(iterator._dataset, [])
        dead = _dead_worker(iterator, f"{type(error).__name__}: {error}")
        own = iterator._collate_fn not in (_utils.collate.default_collate, _utils.collate.default_convert)
        facts: dict[str, Any] = {
            "dataset": type_name(dataset),
            "getitem": getitem_of(dataset),
            "collate": getattr(iterator._collate_fn, "__qualname__", type_name(iterator._collate_fn)),
            "num_workers": iterator._num_workers,
            "has_own_collate": own,
            **self._started.get(iterator, {}),
            **_machine(),
        }
        if dead is not None:
            code = dead.exitcode
            facts |= {"worker_signal": -code if code and code < 0 else None, "worker_exit": code}
        passed_on = _passed_on(error)
        candidates = self._candidates(iterator, frames, dead)
        if not candidates:
            return RefetchedSample(stage="iterable" if _is_iterable(iterator) else "", crash=passed_on, **facts)
        return self._fetch(iterator, candidates, passed_on, facts, _played(iterator, dead))

    def _fetch(
        self,
        iterator: Any,
        candidates: list[Any],
        passed_on: Crash | None,
        facts: dict[str, Any],
        worker: tuple[int, int] | None,
    ) -> RefetchedSample:
        batched = iterator._auto_collation
        for indices in candidates:
            wanted = list(indices) if batched else [indices]
            outcome = fetch_again(iterator._dataset, wanted, iterator._collate_fn if batched else None, worker)
            if outcome.failed or outcome.timed_out:
                break
        for clue in outcome.clues:
            self.recorder.observe(clue)
        _, asked = below_subsets(iterator._dataset, wanted)
        return RefetchedSample(
            index=_failed_index(outcome, asked),
            indices=tuple(i for i in map(_as_int, asked[:_MOST_INDICES]) if i is not None),
            fields=outcome.fields,
            failed=outcome.failed,
            timed_out=outcome.timed_out,
            stage=outcome.stage,
            crash=outcome.crash or passed_on,
            exit_signal=outcome.exit_signal,
            exit_code=outcome.exit_code,
            native_stack=outcome.native_stack,
            **facts,
        )

    def _candidates(self, iterator: Any, frames: list[FrameType], dead: Any) -> list[Any]:
        """The indices of the batch that failed; of a dead worker, all those that it had not handed in."""
        kept = list(self._sent.get(iterator, ()))
        if _is_iterable(iterator) or not kept or not hasattr(os, "fork"):
            return []
        if iterator._num_workers == 0:
            return [kept[-1][1]]
        by_number = dict(kept)
        if dead is not None:
            worker = iterator._workers.index(dead)
            waiting = [n for n, info in sorted(iterator._task_info.items()) if len(info) == 1 and info[0] == worker]
            return [by_number[n] for n in waiting if n in by_number]
        inner = next((f for f in reversed(frames) if f.f_code.co_name == "_next_data"), None)
        received = inner.f_locals.get("idx") if inner is not None else None
        in_order = getattr(iterator, "_in_order", True)
        number = iterator._rcvd_idx - 1 if in_order or received is None else received
        return [by_number[number]] if number in by_number else []


class WithoutWorkers(Probe):
    """Has every DataLoader fetch in this process, so that the user's lines can be watched."""

    name = "without-workers"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        original = dataloader.DataLoader.__init__

        @functools.wraps(original)
        def init(loader: Any, *args: Any, **kwargs: Any) -> None:
            with frame_hidden:
                original(loader, *args, **_in_this_process(kwargs))

        self._patches.replace(dataloader.DataLoader, "__init__", init)

    def remove(self) -> None:
        self._patches.restore()


def _in_this_process(options: dict[str, Any]) -> dict[str, Any]:
    of_workers = ("num_workers", "prefetch_factor", "persistent_workers", "timeout", "multiprocessing_context")
    return {name: value for name, value in options.items() if name not in of_workers}


def _iterator_in(frames: list[FrameType]) -> Any:
    """The DataLoader iterator that was fetching when the exception came."""
    owners = (frame.f_locals.get("self") for frame in reversed(frames))
    return next((owner for owner in owners if isinstance(owner, dataloader._BaseDataLoaderIter)), None)


def _played(iterator: Any, dead: Any) -> tuple[int, int] | None:
    """The number of the worker that is to be played, and how many there are; the first, where it is not known."""
    workers = list(getattr(iterator, "_workers", ()))
    return (workers.index(dead) if dead in workers else 0, len(workers)) if workers else None


def _dead_worker(iterator: Any, message: str) -> Any:
    """The worker that died: the one a message names, or one whose end a broken connection told of."""
    workers = list(getattr(iterator, "_workers", ()))
    named = _DEAD_WORKER.search(message)
    pids = {int(pid) for pid in named.group(1).split(",")} if named is not None else set()
    if _BROKEN_CONNECTION.search(message):
        # The connection breaks a moment before the process has ended.
        multiprocessing.connection.wait([w.sentinel for w in workers], timeout=_PATIENCE)
    return next((w for w in workers if w.pid in pids or w.exitcode), None)


def _passed_on(error: BaseException) -> Crash | None:
    """The worker's own exception, read from the text that it sent."""
    from torchmedic.traceback_text import parse_traceback

    text = str(error)
    crash = parse_traceback(text) if "Original Traceback" in text else None
    if crash is None:
        return None
    places = (location(f.location.file, f.location.line, f.location.function) for f in crash.frames)
    frames = tuple(replace(f, location=place) for f, place in zip(crash.frames, places, strict=True))
    return replace(crash, frames=frames)


def _is_iterable(iterator: Any) -> bool:
    return bool(iterator._dataset_kind == dataloader._DatasetKind.Iterable)


def below_subsets(dataset: Any, indices: Any) -> tuple[Any, Any]:
    """The data set that subsets were cut from, and the indices there: those are what its owner can look up."""
    while isinstance(dataset, Subset):
        try:
            if isinstance(indices, (list, tuple)):
                indices = [dataset.indices[i] for i in indices]
            elif indices is not None:
                indices = dataset.indices[indices]
        except (IndexError, TypeError):
            break
        dataset = dataset.dataset
    return dataset, indices


def base_of(dataset: Any) -> Any:
    """The data set that subsets were cut from."""
    return below_subsets(dataset, None)[0]


def _failed_index(outcome: Outcome, wanted: list[Any]) -> int | None:
    at_sample = (outcome.failed or outcome.timed_out) and outcome.stage == "dataset"
    return _as_int(wanted[outcome.position]) if at_sample and outcome.position is not None else None


def _as_int(index: Any) -> int | None:
    try:
        return int(index)
    except (TypeError, ValueError):
        return None


def _start_method(loader: Any) -> str:
    context = getattr(loader, "multiprocessing_context", None) or multiprocessing
    return str(context.get_start_method(allow_none=True) or "")


def getitem_of(dataset: Any) -> Location | None:
    """The first line of a data set's `__getitem__`, where it is the user's."""
    code = getattr(getattr(type(dataset), "__getitem__", None), "__code__", None)
    if code is None or not is_user_file(code.co_filename):
        return None
    return location(code.co_filename, code.co_firstlineno, code.co_qualname)


def _machine() -> dict[str, int]:
    """Free memory where workers put their batches, and in the machine."""
    found: dict[str, int] = {}
    if os.path.isdir(_SHARED_MEMORY):
        usage = shutil.disk_usage(_SHARED_MEMORY)
        found |= {"shared_memory_free": usage.free, "shared_memory_total": usage.total}
    try:
        import psutil

        found["memory_available"] = int(psutil.virtual_memory().available)
    except ImportError:
        pass
    return found
