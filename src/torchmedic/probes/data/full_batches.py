"""Finds counts that are divided by `len(loader) * batch_size` where the last batch of the loader is short."""

from __future__ import annotations

import ast
import re
import sys
import weakref
from collections.abc import Iterator, Sized
from types import FrameType
from typing import Any

from torch.utils.data import BatchSampler

from torchmedic.facts import DividedByFullBatches, Location
from torchmedic.late import late_dataclass
from torchmedic.probes.events.loaders import Loaders
from torchmedic.probes.objects.rows import names_of_loader
from torchmedic.probes.source.expressions import parsed
from torchmedic.probes.source.frames import COMPREHENSIONS, location, user_frame
from torchmedic.probes.source.sources import user_files
from torchmedic.record import Probe, Recorder

_LEAST_SHORT = 0.02
_MOST_LOADERS = 40
_SIZE = re.compile(r"(^|[._])(batch_?size|bs|bsz)$", re.IGNORECASE)
_COUNTED = re.compile(r"correct|right|hits?$|match|acc", re.IGNORECASE)


@late_dataclass(frozen=True)
class _Short:
    """A loader whose last batch is not full, and the user's function that read it."""

    names: tuple[str, ...]
    function: str
    built: Location | None
    rows: int
    batches: int
    batch_size: int


@late_dataclass(frozen=True)
class Division:
    """`counted / (batches * size)` in a function; `reads_loader` says that the function goes through the loader."""

    node: ast.BinOp
    function: str
    counted: str
    loader: str
    size: str
    reads_loader: bool


class FullBatches(Probe):
    """Notes how many rows a loader has at its first batch; the sources are read once, at the end."""

    name = "full-batches"

    def __init__(self, loaders: Loaders) -> None:
        self._loaders = loaders

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._known: weakref.WeakSet[BatchSampler] = weakref.WeakSet()
        self._short: list[_Short] = []

    def on_batch(self, batch: Any, iterator: Any) -> None:
        sampler = iterator._index_sampler
        if not isinstance(sampler, BatchSampler) or sampler in self._known or len(self._known) >= _MOST_LOADERS:
            return
        self._known.add(sampler)
        rows = getattr(sampler, "sampler", None)  # samplers of frameworks inherit, and keep it elsewhere
        if rows is None or sampler.drop_last or not isinstance(rows, Sized):
            return
        count, batches, size = len(rows), len(sampler), sampler.batch_size
        frame = user_frame(sys._getframe(1))
        if frame is not None and batches * size * (1 - _LEAST_SHORT) > count > 0:
            names = names_of_loader(sampler, frame)
            built = self._loaders.built_for(iterator)
            self._short.append(_Short(names, _function_of(frame), built, count, batches, size))

    def on_finish(self) -> None:
        if not self._short or not self.recorder.step:
            return
        for file in user_files():
            tree = parsed(file)
            for found in divisions(tree) if tree is not None else ():
                short = self._divided(found)
                if short is not None:
                    self._tell(file, found, short)

    def _divided(self, found: Division) -> _Short | None:
        """The shortest of the loaders whose batches a division may count."""
        fitting = [
            short
            for short in self._short
            if found.loader in short.names
            and (not found.reads_loader or short.function == found.function)
            and _value(found.size, short.batch_size) == short.batch_size
        ]
        return max(fitting, key=lambda short: short.batches * short.batch_size / short.rows, default=None)

    def _tell(self, file: str, found: Division, short: _Short) -> None:
        self.recorder.observe(
            DividedByFullBatches(
                where=location(file, found.node.lineno, found.function),
                text=ast.unparse(found.node),
                counted=found.counted,
                divisor=ast.unparse(found.node.right),
                loader=short.names[-1] if short.names else found.loader,
                built=short.built,
                rows=short.rows,
                batches=short.batches,
                batch_size=short.batch_size,
                is_there=found.reads_loader,
            )
        )


def divisions(tree: ast.Module) -> Iterator[Division]:
    """Counts of right answers that are divided by a number of batches times their size.

    >>> text = "for x, y in val:\\n    ok += (f(x) == y).sum()\\nprint(ok / (len(val) * batch_size))"
    >>> [(found.counted, found.loader, found.size) for found in divisions(ast.parse(text))]
    [('ok', 'val', 'batch_size')]
    """
    counted, ticks = _counters(tree)
    for function, scope in _scopes(tree):
        read = {ast.unparse(part.iter) for part in scope if isinstance(part, (ast.For, ast.comprehension))}
        for node in scope:
            if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and _is_product(node.right)):
                continue
            over = _last(_without_call(node.left))
            sides = (node.right.left, node.right.right)  # type: ignore[attr-defined]
            for batches, size in (sides, sides[::-1]):
                loader = _length_of(batches)
                is_number = bool(loader) or _last(batches) in ticks
                named = _last_word(loader or (ast.unparse(size.value) if isinstance(size, ast.Attribute) else ""))
                if is_number and named and _SIZE.search(ast.unparse(size)) and over in counted:
                    yield Division(node, function, over, named, ast.unparse(size), named in map(_last_word, read))


def _function_of(frame: FrameType) -> str:
    """The function of a frame, or of the frame around it where a comprehension runs."""
    at: FrameType | None = frame
    while at is not None and at.f_code.co_name in (*COMPREHENSIONS, "<genexpr>"):
        at = at.f_back
    return at.f_code.co_name if at is not None else ""


def _scopes(tree: ast.Module) -> Iterator[tuple[str, list[ast.AST]]]:
    """Each function with what stands in it, and the module with what stands in none."""
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    inside = {id(part) for function in functions for part in ast.walk(function)}
    for function in functions:
        yield function.name, list(ast.walk(function))
    yield "<module>", [node for node in ast.walk(tree) if id(node) not in inside]


def _counters(tree: ast.Module) -> tuple[set[str], set[str]]:
    """Names that right answers are added up in, and names that go up by 1."""
    adding = [node for node in ast.walk(tree) if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add)]
    counted = {_last(node.target) for node in adding if _counts(node)}
    ticks = {_last(node.target) for node in adding if isinstance(node.value, ast.Constant) and node.value.value == 1}
    return counted - ticks, ticks


def _counts(node: ast.AugAssign) -> bool:
    """`right += (answers == y).sum().item()`: a sum over a batch, not the mean of one."""
    text = ast.unparse(node.value)
    is_equal = any(isinstance(part, ast.Compare) for part in ast.walk(node.value)) or ".eq(" in text
    return "mean(" not in text and "sum(" in text and (is_equal or bool(_COUNTED.search(_last(node.target))))


def _is_product(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)


def _without_call(node: ast.expr) -> ast.expr:
    """`right` of `100 * right`, `float(right)` and `right.item()`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return node.right if isinstance(node.left, ast.Constant) else node.left
    if isinstance(node, ast.Call) and len(node.args) == 1:
        return node.args[0]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.value
    return node


def _length_of(node: ast.expr) -> str:
    is_length = isinstance(node, ast.Call) and ast.unparse(node.func) == "len" and len(node.args) == 1
    return ast.unparse(node.args[0]) if is_length else ""  # type: ignore[attr-defined]


def _last(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _last_word(text: str) -> str:
    return text.rpartition(".")[2]


def _value(text: str, otherwise: int) -> Any:
    """What a name of the script stands for; where that cannot be told, what is expected."""
    thing: Any = sys.modules.get("__main__")
    for part in text.split("."):
        held = getattr(thing, "__dict__", {})
        if part not in held:
            return otherwise
        thing = held[part]
    return thing if isinstance(thing, int) else otherwise
