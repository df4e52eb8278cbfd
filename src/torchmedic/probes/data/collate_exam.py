"""The exam of a `collate_fn` that puts things in a new order: whether it takes all fields of a sample along."""

from __future__ import annotations

import ast
import os
import threading
from typing import Any

from torchmedic.facts import CollatedApart
from torchmedic.probes.events.loaders import Loaders, base_of
from torchmedic.probes.source.expressions import called_name, function_of
from torchmedic.probes.source.frames import is_user_file, location
from torchmedic.record import Probe, Recorder

_REORDERING = frozenset(("sorted", "sort", "argsort", "shuffle", "randperm", "permutation", "topk", "reversed", "flip"))
_LEAST_SAMPLES = 4
_MOST_SAMPLES = 64
_MOST_LOOKS = 3


class CollateExam(Probe):
    """Of each loader whose own `collate_fn` sorts or shuffles, the first batch is collated again in a fork."""

    name = "collate-exam"

    def __init__(self, loaders: Loaders) -> None:
        self._loaders = loaders

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._looked: set[Any] = set()

    def on_batch(self, batch: Any, iterator: Any) -> None:
        code = _code_of(getattr(iterator, "_collate_fn", None))
        if code is None or code in self._looked or len(self._looked) >= _MOST_LOOKS:
            return
        self._looked.add(code)
        line = _reordering_line(code) if is_user_file(code.co_filename) else None
        is_able = hasattr(os, "fork") and threading.current_thread() is threading.main_thread()
        indices = self._loaders.batch_facts(iterator)[0]
        if line is None or not is_able or self.recorder.clock_is_held or not isinstance(indices, (list, tuple)):
            return
        if len(indices) >= _LEAST_SAMPLES:
            self._look(iterator, list(indices[:_MOST_SAMPLES]), code, line)

    def _look(self, iterator: Any, indices: list[Any], code: Any, line: int) -> None:
        from torchmedic.probes.crash.refetch import told_by_fork

        dataset, collate = base_of(iterator._dataset), iterator._collate_fn
        found = told_by_fork(lambda tell: _collate_again(tell, dataset, indices, collate))
        if found.get("moved") is None:
            return
        self.recorder.observe(
            CollatedApart(
                step=self.recorder.step,
                function=code.co_name,
                moved=found["moved"],
                left=found["left"],
                order=tuple(found["order"]),
                where=location(code.co_filename, line, code.co_qualname),
                built=self._loaders.built_for(iterator),
            )
        )


def _collate_again(tell: Any, dataset: Any, indices: list[Any], collate: Any) -> None:
    from torchmedic.probes.data.collated_rows import orders_apart

    samples = [dataset[index] for index in indices]
    apart = orders_apart(list(samples), collate(list(samples)))
    if apart is not None:
        tell(moved=apart[0], left=apart[1], order=list(apart[2]))


def _code_of(collate: Any) -> Any:
    """The code of a function, of a method, of what a partial calls, or of an object's `__call__`."""
    for _ in range(3):
        code = getattr(collate, "__code__", None)
        if code is not None:
            return code
        inner = getattr(collate, "__func__", None) or getattr(collate, "func", None)
        collate = inner if inner is not None else vars(type(collate)).get("__call__")
    return None


def _reordering_line(code: Any) -> int | None:
    """The first line of a function that sorts, shuffles or turns round something."""
    function = function_of(code)
    nodes = ast.walk(function) if function is not None else ()
    return min((node.lineno for node in nodes if isinstance(node, ast.expr) and _reorders(node)), default=None)


def _reorders(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return called_name(node) in _REORDERING
    step = node.slice.step if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) else None
    return step is not None and ast.unparse(step) == "-1"
