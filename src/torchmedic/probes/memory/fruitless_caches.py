"""Whether a function of the user's with a cache keeps ever more results that no call asks for again."""

from __future__ import annotations

import functools
import gc
import linecache
import sys
import weakref
from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import field
from itertools import islice
from typing import Any

import numpy as np
import torch

from torchmedic.facts import FruitlessCache, Location
from torchmedic.late import late_dataclass
from torchmedic.probes.source.frames import is_user_file, location
from torchmedic.record import Probe, Recorder

_PASSES = 3  # a cache of samples is filled in the first pass, and found again from then on
_SEARCHED = (2, 4)  # the caches are there when the first pass is over; few are made later
_LEAST_BYTES = 8 << 20
_LEAST_BYTES_BY_TENSOR = 1 << 20  # no later call can find them
_LEAST_MISSES = 8
_MANY_MISSES = 40
_MOST_KEYS = 20_000
_SAMPLED = 8
_OURS = 3  # references to a part of a key while they are counted: the key's, and the argument's


def _last_passes() -> deque[tuple[int, int]]:
    return deque(maxlen=_PASSES)


@late_dataclass()
class _Watched:
    """A cache, what it had counted when the running pass began, and what each of the last passes added."""

    wrapper: weakref.ref[Any]
    hits: int
    misses: int
    passes: defaultdict[int, deque[tuple[int, int]]] = field(default_factory=lambda: defaultdict(_last_passes))

    def end_pass(self, dataset: int) -> None:
        wrapper = self.wrapper()
        if wrapper is not None:
            now = wrapper.cache_info()
            self.passes[dataset].append((now.hits - self.hits, now.misses - self.misses))
            self.hits, self.misses = now.hits, now.misses

    def fruitless(self) -> tuple[int, int] | None:
        """The hits and misses of the last passes over one data set, where nearly all calls were new in each."""
        for counts in self.passes.values():
            misses = [m for _, m in counts]
            is_new = len(counts) == _PASSES and all(m >= max(_LEAST_MISSES, 4 * h) and h >= 0 for h, m in counts)
            if is_new and 2 * min(misses) >= max(misses):
                return sum(h for h, _ in counts), sum(misses)
        return None


class FruitlessCaches(Probe):
    """Reads the counters that `functools` keeps of each cache when a pass over the data begins."""

    name = "fruitless-caches"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._iterator: Any = None
        self._dataset = 0
        self._passes = 0
        self._watched: dict[int, _Watched] = {}

    def on_fetch(self, iterator: Any) -> Any:
        if self._iterator is not None and self._iterator() is iterator:
            return
        self._end_pass()
        self._iterator, self._dataset = weakref.ref(iterator), id(iterator._dataset)
        self._passes += 1
        if self._passes in _SEARCHED:
            self._search()

    def on_finish(self) -> None:
        if not self.recorder.step:  # a look at every object would be most of what a short script pays for us
            return
        self._end_pass()
        self._search()
        for watched in self._watched.values():
            wrapper = watched.wrapper()
            if wrapper is None:
                continue
            counts, tensor = watched.fruitless(), _tensor_asked_for(wrapper)
            if counts is not None:
                self._note(wrapper, _PASSES, *counts, argument=_telling_apart(wrapper))
            elif tensor:
                info = wrapper.cache_info()
                self._note(wrapper, 0, info.hits, info.misses, argument=tensor)

    def _end_pass(self) -> None:
        for watched in self._watched.values():
            watched.end_pass(self._dataset)

    def _search(self) -> None:
        wrapper = functools._lru_cache_wrapper  # a local name: this goes over every object of the process
        for thing in gc.get_objects():
            if type(thing) is wrapper and id(thing) not in self._watched and _is_users(thing):
                info = thing.cache_info()
                self._watched[id(thing)] = _Watched(weakref.ref(thing), info.hits, info.misses)

    def _note(self, wrapper: Any, passes: int, hits: int, misses: int, argument: str) -> None:
        info = wrapper.cache_info()
        held = sum(_bytes(result) for result in _results(wrapper))
        least = _LEAST_BYTES if passes else _LEAST_BYTES_BY_TENSOR
        if held < least or info.currsize < misses:  # emptied now and then, or bounded
            return
        self.recorder.observe(
            FruitlessCache(
                step=self.recorder.step,
                function=wrapper.__wrapped__.__qualname__.rpartition("<locals>.")[2],
                size=info.currsize,
                bytes=held,
                passes=passes,
                misses=misses,
                hits=hits,
                argument=argument,
                where=_place(wrapper),
            )
        )


def _tensor_asked_for(wrapper: Any) -> str:
    """The argument that is a tensor, where no call met an earlier one: two tensors of the same values are two keys.

    One that the script still has elsewhere may yet be asked for again.
    """
    info = wrapper.cache_info()
    if info.hits or info.misses < _MANY_MISSES:
        return ""
    dictionaries = [thing for thing in gc.get_referents(wrapper) if type(thing) is dict]
    keys = [key for each in dictionaries for key in islice(each, _SAMPLED) if isinstance(key, tuple)]
    names = wrapper.__wrapped__.__code__.co_varnames
    for at, name in enumerate(names):
        if keys and all(_has_tensor(key, at) for key in keys):
            alone = sum(sys.getrefcount(key[at]) < _OURS for key in keys)
            return name if 2 * alone > len(keys) else ""
    return ""


def _has_tensor(key: tuple[Any, ...], at: int) -> bool:
    return at < len(key) and isinstance(key[at], torch.Tensor)


def _is_users(wrapper: Any) -> bool:
    code = getattr(wrapper.__wrapped__, "__code__", None)
    return code is not None and is_user_file(code.co_filename)


def _place(wrapper: Any) -> Location:
    """The decorator, which may be one of several."""
    code = wrapper.__wrapped__.__code__
    lines = range(code.co_firstlineno, code.co_firstlineno + 6)
    line = next((n for n in lines if "cache" in linecache.getline(code.co_filename, n)), code.co_firstlineno)
    return location(code.co_filename, line, code.co_qualname)


def _results(wrapper: Any) -> Iterator[Any]:
    """What a cache keeps, keys as well: one without a bound has it in a dictionary, others in a list of their own."""
    for thing in gc.get_referents(wrapper):
        if type(thing) is dict:
            yield from thing.values()
            yield from (part for key in thing if isinstance(key, tuple) for part in key)
        else:
            yield thing


def _bytes(result: Any) -> int:
    if isinstance(result, (tuple, list)):
        return sum(_bytes(each) for each in result[:16])
    if isinstance(result, torch.Tensor):
        return result.nbytes if result.layout is torch.strided else 0
    return result.nbytes if isinstance(result, np.ndarray) else 0


def _telling_apart(wrapper: Any) -> str:
    """The argument without which many calls would have been the same; empty where there is none."""
    dictionaries = [thing for thing in gc.get_referents(wrapper) if type(thing) is dict and thing]
    keys = [key for each in dictionaries for key in islice(each, _MOST_KEYS) if isinstance(key, tuple)]
    if not keys or len({len(key) for key in keys}) != 1:
        return ""
    plain = [tuple(p if isinstance(p, (int, float, str)) else id(p) for p in key) for key in keys]
    names = wrapper.__wrapped__.__code__.co_varnames[: len(keys[0])]
    without = {name: len({key[:i] + key[i + 1 :] for key in plain}) for i, name in enumerate(names)}
    name = min(without, key=lambda each: without[each])
    return name if 3 * without[name] <= len(keys) else ""
