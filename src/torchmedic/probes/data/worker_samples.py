"""In a loader worker: which samples a stream hands out, as digests, to be compared with those of the other workers."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.utils.data import get_worker_info

from torchmedic.facts import Location, SamplesRepeated
from torchmedic.probes.events.patching import hide_frame
from torchmedic.probes.source.expressions import function_of
from torchmedic.probes.source.frames import is_user_file, location

_FIRST = 32
_LEAST_DISTINCT = 8
_MOST_SAMPLES = 20_000
_MOST_BYTES_LOOKED_AT = 65_536
_MOST_METHODS = 4


class _Watch:
    """Looks over a fetcher's shoulder: every sample passes its `collate_fn`, and `fetch` says when there is no more."""

    def __init__(self, fetcher: Any, write: Callable[[dict[str, Any]], None]) -> None:
        self._fetcher, self._write = fetcher, write
        self._collate, self._fetch = fetcher.collate_fn, fetcher.fetch
        self._digests: list[str] = []
        self._has_told_first = False
        fetcher.collate_fn, fetcher.fetch = self.collate, self.fetch

    def collate(self, data: Any) -> Any:
        try:
            self._note(data if self._fetcher.auto_collation else [data])
        except Exception:  # noqa: BLE001 - the user's run goes on without this exam
            self._let_go()
        try:
            return self._collate(data)
        except BaseException as error:
            hide_frame(error)
            raise

    def fetch(self, index: Any) -> Any:
        try:
            return self._fetch(index)
        except StopIteration:
            self._tell("whole", sorted(self._digests))
            raise
        except BaseException as error:
            hide_frame(error)
            raise

    def _note(self, samples: Iterable[Any]) -> None:
        self._digests += [_digest(sample) for sample in samples]
        if not self._has_told_first and len(self._digests) >= _FIRST:
            self._has_told_first = True
            self._tell("first", self._digests[:_FIRST])
        if len(self._digests) > _MOST_SAMPLES:
            self._let_go()

    def _tell(self, which: str, digests: list[str]) -> None:
        worker = get_worker_info()
        if worker is None or len(set(digests)) < _LEAST_DISTINCT:
            return
        together = hashlib.blake2b("".join(digests).encode(), digest_size=12).hexdigest()
        told = {which: together, "samples": len(digests), "worker": worker.id, "workers": worker.num_workers}
        self._write(told)

    def _let_go(self) -> None:
        self._fetcher.collate_fn = self._collate
        del self._fetcher.fetch


def watch_stream(fetcher: Any, write: Callable[[dict[str, Any]], None]) -> None:
    """Tell of the first samples of a worker's stream, in their order, and of all of them when it has ended."""
    _Watch(fetcher, write)


def _digest(sample: Any) -> str:
    found = hashlib.blake2b(digest_size=8)
    for part in _parts(sample):
        found.update(part)
    return found.hexdigest()


def _parts(thing: Any) -> Iterable[bytes]:
    if isinstance(thing, dict):
        for key, value in thing.items():
            yield repr(key).encode()
            yield from _parts(value)
    elif isinstance(thing, (list, tuple)):
        for item in thing:
            yield from _parts(item)
    elif isinstance(thing, torch.Tensor):
        flat = thing.detach().flatten()
        every = max(1, flat.numel() * flat.element_size() // _MOST_BYTES_LOOKED_AT)
        yield repr((thing.dtype, tuple(thing.shape))).encode()
        yield flat[::every].contiguous().view(torch.uint8).numpy().tobytes()
    elif hasattr(thing, "tobytes"):
        yield thing.tobytes()
    else:
        yield repr(thing).encode()


def repeated(
    reports: list[dict[str, Any]], kind: str, where: Location | None, built: Location | None
) -> SamplesRepeated | None:
    """Workers that handed out the same samples in their first pass: the same first ones, or the same in all."""
    for which in ("first", "whole"):
        of_workers: dict[int, dict[str, Any]] = {}
        for report in reports:
            if which in report:
                of_workers.setdefault(report["worker"], report)
        told = [report[which] for report in of_workers.values()]
        most = max(told, key=told.count, default="")
        if told.count(most) > 1:
            example = next(report for report in of_workers.values() if report[which] == most)
            return SamplesRepeated(
                dataset=kind,
                workers=example["workers"],
                alike=told.count(most),
                samples=example["samples"],
                in_order=which == "first",
                where=where,
                loader_built=built,
            )
    return None


def handed_out_at(kind: type) -> Location | None:
    """The line of `__iter__` that goes over the samples: the loop that yields them, or what is returned."""
    return _handed_out_by(kind, "__iter__", _MOST_METHODS)


def _handed_out_by(kind: type, method: str, methods_left: int) -> Location | None:
    code = getattr(getattr(kind, method, None), "__code__", None)
    function = function_of(code) if code is not None and is_user_file(code.co_filename) else None
    if function is None or code is None:
        return None
    handing = [node for node in ast.walk(function) if isinstance(node, (ast.Yield, ast.YieldFrom, ast.Return))]
    loops = [node for node in ast.walk(function) if isinstance(node, (ast.For, ast.While))]
    around = [loop for loop in loops if any(n in handing for n in ast.walk(loop))]
    first = min([*around, *handing], key=lambda node: node.lineno, default=None)
    below = _own_method(first.iter if isinstance(first, ast.For) else getattr(first, "value", None))
    within = _handed_out_by(kind, below, methods_left - 1) if below and methods_left else None
    return within or location(code.co_filename, (first or function).lineno, code.co_qualname)


def _own_method(given: ast.AST | None) -> str:
    """The name of the method of the stream's own that is called for the samples, as in `yield from self.rows()`."""
    called = given.func if isinstance(given, ast.Call) else None
    return called.attr if isinstance(called, ast.Attribute) and ast.unparse(called.value) == "self" else ""
