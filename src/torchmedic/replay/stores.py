"""A second, silent run that looks at what some lines put into arrays of whole numbers, before they do."""

from __future__ import annotations

import ast
import operator
from dataclasses import replace
from types import FrameType
from typing import Any

import numpy as np
import torch

from torchmedic.facts import TruncatedStores
from torchmedic.late import late_dataclass
from torchmedic.probes.data.held_arrays import Array
from torchmedic.probes.data.untyped_stores import Store, stores_of
from torchmedic.probes.data.wraparound import value_of
from torchmedic.probes.source.expressions import MISSING
from torchmedic.probes.source.frames import location, location_of
from torchmedic.record import Recorder
from torchmedic.replay.until_training import AtLines

_MOST_LOOKS = 3000  # at one line
_MOST_VALUES = 100_000
_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


@late_dataclass()
class _Line:
    """What one line has put into its array so far, and how large it was, before the cut and in what was cut off."""

    fact: TruncatedStores
    looks: int = 0
    size: float = 0.0
    lost: float = 0.0

    def add(self, values: Array) -> None:
        values = values[values != 0]
        rest = np.abs(values - np.trunc(values))
        self.looks += 1
        self.size += float(np.abs(values).sum())
        self.lost += float(rest.sum())
        self.fact = replace(
            self.fact,
            values=self.fact.values + values.size,
            zeroed=self.fact.zeroed + int((np.abs(values) < 1).sum()),
            example=float(values[rest.argmax()]) if rest.any() and not self.fact.example else self.fact.example,
            lost=self.lost / max(self.size, 1e-300),
        )


class Stores(AtLines):
    """Follows the functions with the lines that the settings name, until the first step of a training."""

    name = "stores"

    def install(self, recorder: Recorder) -> None:
        self._seen: dict[tuple[str, int], _Line] = {}
        super().install(recorder)

    def look_at(self, frame: FrameType) -> None:
        place = (frame.f_code.co_filename, frame.f_lineno or 0)
        store, known = stores_of(place[0]).get(place[1]), self._seen.get(place)
        array = frame.f_locals.get(store.array) if store is not None else None
        if store is None or not _holds_integers(array) or (known is not None and known.looks >= _MOST_LOOKS):
            return
        values = _numbers(_computed(store.value, frame))
        if values is not None:
            known = self._seen.setdefault(place, known or _Line(self._fact(store, array, frame)))
            known.add(values)

    def _fact(self, store: Store, array: Any, frame: FrameType) -> TruncatedStores:
        stored = location_of(frame)
        return TruncatedStores(
            step=self.recorder.step,
            array=store.array,
            text=ast.unparse(store.made),
            value=ast.unparse(store.node.value),
            dtype=str(array.dtype).removeprefix("torch."),
            made=location(frame.f_code.co_filename, store.made.lineno, stored.function),
            stored=stored,
        )

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        for line in self._seen.values():
            if line.lost:
                self.recorder.observe(line.fact)
        super().on_step(optimizer, args, kwargs)


def _holds_integers(array: Any) -> bool:
    kind = array.dtype if type(array) in (np.ndarray, torch.Tensor) else None
    return kind is not None and str(kind).removeprefix("torch.").lstrip("u").startswith("int")


def _computed(node: ast.AST, frame: FrameType) -> Any:
    """Sums and products of plain numbers and arrays, worked out without running any code of the user's."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _computed(node.operand, frame)
        return MISSING if value is MISSING else -value
    if not isinstance(node, ast.BinOp):
        value = value_of(node, frame)
        is_plain = isinstance(value, (int, float, np.generic)) or type(value) in (np.ndarray, torch.Tensor)
        return value if is_plain else MISSING
    left, right = _computed(node.left, frame), _computed(node.right, frame)
    work = _OPERATORS.get(type(node.op))
    if work is None or left is MISSING or right is MISSING:
        return MISSING
    try:
        with np.errstate(all="ignore"):
            return work(left, right)
    except Exception:  # noqa: BLE001 - the line itself will say it
        return MISSING


def _numbers(value: Any) -> Array | None:
    if type(value) is torch.Tensor:
        value = value.detach().cpu().numpy() if value.layout == torch.strided else MISSING
    if value is MISSING or not isinstance(value, (int, float, np.generic, np.ndarray)):
        return None
    numbers = np.asarray(value)
    if numbers.dtype.kind not in "iuf" or not 0 < numbers.size <= _MOST_VALUES:
        return None
    numbers = numbers.astype(np.float64).ravel()
    return numbers if np.isfinite(numbers).all() else None
