"""Whether what loader workers keep for themselves grows by the same amount in every pass over the data."""

from __future__ import annotations

import ast
import inspect
import itertools
import weakref
from collections.abc import Iterator
from typing import Any

from torchmedic.facts import Location, WorkerCache
from torchmedic.probes.memory.worker_memory import own_bytes
from torchmedic.probes.objects.keepers import STORING
from torchmedic.probes.objects.values import type_name
from torchmedic.probes.source.expressions import called_name, parsed
from torchmedic.probes.source.frames import is_user_file, location
from torchmedic.record import Probe, Recorder

_MOST_LOOKS = 12
_LEAST_LOOKS = 4
_LEAST_GROWTH = 4 << 20  # of each worker, in every pass
_AS_MUCH = 0.85
# A cache of samples that is filled by chance grows as well, but by a smaller part in every pass.
_WOULD_HAVE_SHRUNK = 0.7
_WRAPPED = 3


class WorkerCaches(Probe):
    """Looks at the end of the first passes of workers that stay; those that are started anew forget everything."""

    name = "worker-caches"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._iterator: Any = None
        self._sizes: list[int] = []
        self._found: WorkerCache | None = None

    def on_batch(self, batch: Any, iterator: Any) -> None:
        if not getattr(iterator, "_persistent_workers", False) or not getattr(iterator, "_workers", None):
            return
        if self._iterator is None or self._iterator() is not iterator:
            self._iterator, self._sizes = weakref.ref(iterator), []
        if len(self._sizes) < _MOST_LOOKS and iterator._num_yielded == _length(iterator):
            self._look(iterator)

    def on_finish(self) -> None:
        if self._found is not None:
            self.recorder.observe(self._found)

    def _look(self, iterator: Any) -> None:
        workers = [worker for worker in iterator._workers if worker.pid]
        self._sizes.append(sum(own_bytes(worker.pid) for worker in workers))
        self._found = None  # what was found at an earlier look may have come to an end
        if not is_steady(self._sizes, len(workers)):
            return
        for dataset, path, where in _kept_by(getattr(iterator, "_dataset", None)):
            self._found = WorkerCache(
                step=self.recorder.step,
                workers=len(workers),
                passes=len(self._sizes),
                growth=self._sizes[-1] - self._sizes[-2],
                held=self._sizes[-1],
                dataset=type_name(dataset),
                path=path,
                where=where,
            )
            return


def is_steady(sizes: list[int], workers: int) -> bool:
    """Whether the last passes added as much as the second did, where samples that come again would have added less.

    >>> is_steady([100 << 20, 150 << 20, 200 << 20, 250 << 20], 2)
    True
    >>> is_steady([100 << 20, 150 << 20, 175 << 20, 187 << 20], 2)
    False
    """
    grown = [after - before for before, after in itertools.pairwise(sizes)]
    if len(sizes) < _LEAST_LOOKS or min(grown) < _LEAST_GROWTH * workers:
        return False
    expected = (1 - 1 / workers) ** (len(grown) - 1)
    return expected < _WOULD_HAVE_SHRUNK and min(grown[1:]) >= _AS_MUCH * grown[0]


def _length(iterator: Any) -> int:
    try:
        return len(iterator)
    except TypeError:
        return 0


def _kept_by(dataset: Any, depth: int = _WRAPPED) -> Iterator[tuple[Any, str, Location]]:
    """What the methods of a data set, or of one that it wraps, fill while samples are fetched."""
    if dataset is None or depth == 0:
        return
    try:
        file = inspect.getsourcefile(type(dataset)) or ""
    except TypeError:
        file = ""
    tree = parsed(file) if is_user_file(file) else None
    wanted = type(dataset).__name__
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.ClassDef) and node.name == wanted:
            for path, line in _filled_in(node, dataset):
                yield dataset, path, location(file, line, f"{wanted}.__getitem__")
    yield from _kept_by(getattr(dataset, "dataset", None), depth - 1)


def _filled_in(definition: ast.ClassDef, dataset: Any) -> Iterator[tuple[str, int]]:
    """Attributes that a method other than the first puts things into, and functions with a cache without a bound."""
    for method in definition.body:
        if not isinstance(method, ast.FunctionDef) or method.name == "__init__" or not method.args.args:
            continue
        own = method.args.args[0].arg
        for decorator in method.decorator_list:
            if _is_endless_cache(decorator):
                yield method.name, decorator.lineno
        for node in ast.walk(method):
            name = _stored_under(node, own)
            if name and isinstance(getattr(dataset, name, None), (dict, list, set)):
                yield f"{own}.{name}", node.lineno  # type: ignore[attr-defined]


def _stored_under(node: ast.AST, own: str) -> str:
    """`name` where `self.name[...]` is assigned, or something is put into `self.name` by a call."""
    holder: ast.AST | None = None
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        holder = node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in STORING:
        holder = node.func.value
    if isinstance(holder, ast.Attribute) and isinstance(holder.value, ast.Name) and holder.value.id == own:
        return holder.attr
    return ""


def _is_endless_cache(decorator: ast.expr) -> bool:
    if isinstance(decorator, ast.Call):
        bounds = [*decorator.args[:1], *(each.value for each in decorator.keywords if each.arg == "maxsize")]
        endless = any(isinstance(bound, ast.Constant) and bound.value is None for bound in bounds)
        return called_name(decorator) == "lru_cache" and endless
    return ast.unparse(decorator).rpartition(".")[2] == "cache"
