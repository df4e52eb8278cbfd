"""The exam of samples that are mirrored at random: whether their masks, points and boxes are mirrored as well."""

from __future__ import annotations

import ast
import os
import threading
from collections.abc import Iterator
from typing import Any

import torch

from torchmedic.facts import Location, MirroredAlone
from torchmedic.probes.expressions import called_name, parsed
from torchmedic.probes.frames import file_of, is_user_file, location
from torchmedic.probes.loaders import Loaders, base_of
from torchmedic.probes.rows import tokens
from torchmedic.record import Probe, Recorder

_FLIPS = frozenset(("flip", "fliplr", "flipud", "hflip", "vflip", "mirror"))
_DRAWS = frozenset(("random", "rand", "randint", "uniform", "bernoulli", "choice", "integers", "getrandbits"))
_FLIP_LAYERS = ("RandomHorizontalFlip", "RandomVerticalFlip")
_MOST_DATASETS = 3
_SAMPLES = 4
_DRAWS_EACH = 10
_LEAST_FOUND = 2


class MirrorExam(Probe):
    """Of a data set whose code mirrors by chance, a few samples are drawn several times in a fork."""

    name = "mirror-exam"

    def __init__(self, loaders: Loaders) -> None:
        self._loaders = loaders

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._looked: set[int] = set()

    def on_batch(self, batch: Any, iterator: Any) -> None:
        dataset = iterator._dataset
        if id(dataset) in self._looked or len(self._looked) >= _MOST_DATASETS or not torch.is_grad_enabled():
            return
        self._looked.add(id(dataset))
        is_able = hasattr(os, "fork") and threading.current_thread() is threading.main_thread()
        dataset, indices = base_of(dataset), self._loaders.batch_facts(iterator)[0]
        if not is_able or self.recorder.clock_is_held or not isinstance(indices, (list, tuple)):
            return
        found = mirroring(dataset)
        if found is not None:
            self._look(dataset, list(indices[:_SAMPLES]), *found)

    def _look(self, dataset: Any, indices: list[Any], where: Location, words: set[str]) -> None:
        from torchmedic.probes.refetch import told_by_fork

        told = told_by_fork(lambda tell: _draw_again(tell, dataset, indices, words))
        if told.get("times", 0) >= _LEAST_FOUND:
            self.recorder.observe(
                MirroredAlone(
                    step=self.recorder.step,
                    where=where,
                    dataset=type(dataset).__name__,
                    axis=told["axis"],
                    image=told["image"],
                    target=told["target"],
                    samples=told["times"],
                    looked_at=len(indices),
                )
            )


def _draw_again(tell: Any, dataset: Any, indices: list[Any], words: set[str]) -> None:
    from torchmedic.probes.mirrored_rows import left_behind

    times = 0
    for index in indices:
        found = left_behind([dataset[index] for _ in range(_DRAWS_EACH)], words)
        if found is not None:
            times += 1
            tell(axis=found[0], image=found[1], target=found[2], times=times)


def mirroring(dataset: Any) -> tuple[Location, set[str]] | None:
    """The line of a data set's class that mirrors something by chance, and the words of the code around it."""
    kind = type(dataset)
    file = file_of(kind)
    tree = parsed(file) if file and is_user_file(file) else None
    classes = [n for n in ast.walk(tree) if isinstance(n, ast.ClassDef) and n.name == kind.__name__] if tree else []
    methods = [m for c in classes for m in c.body if isinstance(m, ast.FunctionDef)]
    own = next((m for m in methods if m.name == "__getitem__"), None)
    if tree is None or own is None:
        return None
    called = {called_name(node).rpartition(".")[2] for node in ast.walk(own) if isinstance(node, ast.Call)}
    helpers = [f for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) and f.name in called and f is not own]
    words = {kind.__name__.lower(), *tokens(kind.__name__)}
    for function in (own, *helpers):
        words |= {word for node in ast.walk(function) if isinstance(node, ast.Name) for word in tokens(node.id)}
        words |= {n.value for n in ast.walk(function) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    for function in (own, *helpers):
        line = _flipping_line(function) or _line_of_transform(function, dataset)
        if line is not None:
            name = f"{kind.__name__}.{function.name}" if function in methods else function.name
            return location(file, line, name), words
    return None


def _flipping_line(function: ast.FunctionDef) -> int | None:
    nodes = [node for node in ast.walk(function) if isinstance(node, ast.expr)]
    if not any(isinstance(node, ast.Call) and called_name(node) in _DRAWS for node in nodes):
        return None
    return min((node.lineno for node in nodes if _flips(node)), default=None)


def _flips(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return called_name(node).rpartition(".")[2] in _FLIPS
    return isinstance(node, ast.Subscript) and any(_is_backward(part) for part in _parts(node.slice))


def _parts(index: ast.expr) -> Iterator[ast.expr]:
    yield from index.elts if isinstance(index, ast.Tuple) else [index]


def _is_backward(part: ast.expr) -> bool:
    return isinstance(part, ast.Slice) and part.step is not None and ast.unparse(part.step) == "-1"


def _line_of_transform(function: ast.FunctionDef, dataset: Any) -> int | None:
    """The call of an attribute that is, or holds, a random flip of torchvision's."""
    for node in ast.walk(function):
        callee = node.func if isinstance(node, ast.Call) else None
        if isinstance(callee, ast.Attribute) and ast.unparse(callee.value) == "self":
            held = getattr(dataset, "__dict__", {}).get(callee.attr)
            made = type(held).__module__.partition(".")[0] if held is not None else ""
            if made == "torchvision" and any(name in repr(held) for name in _FLIP_LAYERS):
                return callee.lineno
    return None
