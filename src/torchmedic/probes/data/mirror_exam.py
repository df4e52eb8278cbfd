"""The exam of samples that are mirrored at random: whether their masks, points and boxes are mirrored as well."""

from __future__ import annotations

import ast
import os
import threading
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

import torch

from torchmedic.facts import Location, MirroredAlone
from torchmedic.late import late_dataclass
from torchmedic.probes.events.loaders import Loaders, base_of
from torchmedic.probes.objects.rows import tokens
from torchmedic.probes.source.expressions import called_name, function_of, parsed
from torchmedic.probes.source.frames import file_of, is_user_file, location
from torchmedic.record import Probe, Recorder

_FLIPS = frozenset(("flip", "fliplr", "flipud", "hflip", "vflip", "mirror", "rot90"))
_DRAWS = frozenset(("random", "rand", "randint", "uniform", "bernoulli", "choice", "integers", "getrandbits"))
_FLIP_LAYERS = ("RandomHorizontalFlip", "RandomVerticalFlip")
_MOST_DATASETS = 3
_SAMPLES = 4
_DRAWS_EACH = 10
_LEAST_FOUND = 2
_MOST_HELD = 50
_MOST_STEPS = 20


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
            self._look(dataset, list(indices[:_SAMPLES]), found)

    def _look(self, dataset: Any, indices: list[Any], seen: Mirroring) -> None:
        from torchmedic.probes.crash.refetch import told_by_fork

        told = told_by_fork(lambda tell: _draw_again(tell, dataset, indices, seen.words))
        if told.get("times", 0) >= _LEAST_FOUND:
            self.recorder.observe(
                MirroredAlone(
                    step=self.recorder.step,
                    where=seen.last if told["apart"] else seen.first,
                    called=seen.called,
                    is_apart=bool(told["apart"]),
                    dataset=type(dataset).__name__,
                    axis=told["axis"],
                    image=told["image"],
                    target=told["target"],
                    samples=told["times"],
                    looked_at=len(indices),
                )
            )


def _draw_again(tell: Any, dataset: Any, indices: list[Any], words: set[str]) -> None:
    from torchmedic.probes.data.mirrored_rows import left_behind

    times, apart = 0, False
    for index in indices:
        found = left_behind([dataset[index] for _ in range(_DRAWS_EACH)], words)
        if found is not None:
            times, apart = times + 1, apart or found.is_apart
            tell(axis=found.axis, image=found.image, target=found.target, times=times, apart=apart)


@late_dataclass(frozen=True)
class Mirroring:
    """The first and the last line that mirror something by chance, and the words of the data set's own code.

    `called` is the line of the data set that hands samples to something it holds, where the lines are of that.
    """

    first: Location
    last: Location
    words: set[str]
    called: Location | None = None


def mirroring(dataset: Any) -> Mirroring | None:
    """Where a data set, or something that it holds and calls, mirrors something by chance."""
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
        lines = _flipping_lines(function) or _lines_of_transform(function, dataset)
        if lines:
            name = f"{kind.__name__}.{function.name}" if function in methods else function.name
            return Mirroring(location(file, lines[0], name), location(file, lines[-1], name), words)
    return _held_mirroring(dataset, location(file, own.lineno, f"{kind.__name__}.__getitem__"), own, words)


def _held_mirroring(dataset: Any, place: Location, own: ast.FunctionDef, words: set[str]) -> Mirroring | None:
    """The lines of a callable that hangs on a data set, and the line of `__getitem__` that calls it."""
    for attribute, code in _held_code(dataset):
        function = function_of(code)
        lines = _flipping_lines(function) if function is not None else []
        if not lines:
            continue
        calls = [n for n in ast.walk(own) if isinstance(n, ast.Call) and ast.unparse(n.func) == f"self.{attribute}"]
        line = min((call.lineno for call in calls), default=0)
        first, last = (location(code.co_filename, at, code.co_qualname) for at in (lines[0], lines[-1]))
        return Mirroring(first, last, words, location(file_of(type(dataset)), line, place.function) if line else None)
    return None


def _held_code(dataset: Any) -> Iterator[tuple[str, CodeType]]:
    """The code of the user's functions and callable objects that a data set holds, by the attribute they hang on."""
    for attribute, value in list(getattr(dataset, "__dict__", {}).items())[:_MOST_HELD]:
        waiting, looked = [value], 0
        while waiting and looked < _MOST_HELD:
            thing, looked = waiting.pop(0), looked + 1
            if isinstance(thing, (list, tuple)):
                waiting += thing[:_MOST_STEPS]
                continue
            thing = getattr(thing, "func", thing)
            entry = "forward" if isinstance(thing, torch.nn.Module) else "__call__"
            code = getattr(
                thing if isinstance(thing, FunctionType) else getattr(type(thing), entry, None), "__code__", None
            )
            if code is not None and is_user_file(code.co_filename):
                yield attribute, code
                waiting += [
                    part for part in getattr(thing, "__dict__", {}).values() if not isinstance(part, torch.Tensor)
                ]


def _flipping_lines(function: ast.FunctionDef) -> list[int]:
    nodes = [node for node in ast.walk(function) if isinstance(node, ast.expr)]
    if not any(isinstance(node, ast.Call) and called_name(node) in _DRAWS for node in nodes):
        return []
    return sorted(node.lineno for node in nodes if _flips(node))


def _flips(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        turns = [a.attr for a in node.args if isinstance(a, ast.Attribute)] if called_name(node) == "transpose" else []
        return called_name(node).rpartition(".")[2] in _FLIPS or any(t.startswith(("FLIP_", "ROTATE_")) for t in turns)
    return isinstance(node, ast.Subscript) and any(_is_backward(part) for part in _parts(node.slice))


def _parts(index: ast.expr) -> Iterator[ast.expr]:
    yield from index.elts if isinstance(index, ast.Tuple) else [index]


def _is_backward(part: ast.expr) -> bool:
    return isinstance(part, ast.Slice) and part.step is not None and ast.unparse(part.step) == "-1"


def _lines_of_transform(function: ast.FunctionDef, dataset: Any) -> list[int]:
    """The calls of an attribute that is, or holds, a random flip of torchvision's."""
    found = []
    for node in ast.walk(function):
        callee = node.func if isinstance(node, ast.Call) else None
        if isinstance(callee, ast.Attribute) and ast.unparse(callee.value) == "self":
            held = getattr(dataset, "__dict__", {}).get(callee.attr)
            made = type(held).__module__.partition(".")[0] if held is not None else ""
            if made == "torchvision" and any(name in repr(held) for name in _FLIP_LAYERS):
                found.append(callee.lineno)
    return sorted(found)
