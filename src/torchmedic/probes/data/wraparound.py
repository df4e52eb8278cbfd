"""Watches the user's preparation of samples for 8-bit arithmetic that wraps around."""

from __future__ import annotations

import ast
import functools
import sys
from types import FrameType
from typing import Any

import torch
from torch.utils.data import _utils

from torchmedic.facts import UnseenArithmetic, WrappedArithmetic
from torchmedic.probes.data.narrow_arithmetic import (
    OPERATORS,
    Arithmetic,
    arithmetic_in,
    arithmetic_of,
    still_bound,
    suspects,
)
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.source.called_functions import Names, call_again, calls_of
from torchmedic.probes.source.expressions import MISSING, enclosing_function, parsed, peek
from torchmedic.probes.source.frames import is_user_file, location, outward, shown_path
from torchmedic.record import Probe, Recorder, shielded

_FETCHES = 2
_MOST_ELEMENTS = 200_000
_LEAST_ELEMENTS = 4
_FEW_ELEMENTS = 16
_LEAST_SHARE = 0.01
_LEAST_SHARE_OF_FEW = 0.2
_MOST_LOOKS = 50  # at one line
_SMALL = ("uint8", "int8", "uint16", "int16")


class Wraparound(Probe):
    """Looks at two fetches of a data set, and at the script's own lines when an optimizer is built."""

    name = "wraparound"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._fetches: dict[int, int] = {}
        self._finder = Finder(recorder)
        self._is_training = False
        self._line = shielded(self)(self._on_line)
        original: Any = _utils.fetch._MapDatasetFetcher.fetch

        @functools.wraps(original)
        def fetch(fetcher: Any, index: Any) -> Any:
            key = id(fetcher.dataset)
            if not recorder.is_ours or self._fetches.get(key, 0) >= _FETCHES or sys.gettrace() is not None:
                with frame_hidden:
                    return original(fetcher, index)
            self._fetches[key] = self._fetches.get(key, 0) + 1
            sys.settrace(shielded(self)(self._on_call))
            try:
                with frame_hidden:
                    return original(fetcher, index)
            finally:
                sys.settrace(None)

        self._patches.replace(_utils.fetch._MapDatasetFetcher, "fetch", fetch)

    def remove(self) -> None:
        self._patches.restore()

    def on_optimizer(self, optimizer: Any) -> None:
        for frame in outward(sys._getframe(1)):
            if is_user_file(frame.f_code.co_filename):
                self._read(frame, before=frame.f_lineno or 0)
                self._read_called(frame, before=frame.f_lineno or 0)
        self._is_training = True

    def on_finish(self) -> None:
        if not self._is_training or self._finder.known:
            return
        unseen = [f"{shown_path(file)}:{line}" for file, line in suspects() if (file, line) not in self._finder.looked]
        if unseen:
            self.recorder.observe(UnseenArithmetic(step=self.recorder.step, lines=tuple(dict.fromkeys(unseen))))

    def _on_call(self, frame: FrameType, event: str, argument: Any) -> Any:
        return self._line if is_user_file(frame.f_code.co_filename) else None

    def _on_line(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self._finder.look_at_line(frame)
        return self._line

    def _read(self, frame: FrameType, before: int) -> None:
        """Look at the arithmetic of one function whose names are still bound."""
        tree = parsed(frame.f_code.co_filename)
        if tree is not None:
            scope = enclosing_function(tree, frame)
            found = (each for each in arithmetic_in(scope) if each.line < before and still_bound(each, scope))
            self._finder.look(frame, list(found))

    def _read_called(self, frame: FrameType, before: int) -> None:
        """Look into functions that have returned, where what they were given is still held by the names of the call."""
        tree = parsed(frame.f_code.co_filename)
        scope = enclosing_function(tree, frame) if tree is not None else None
        for call in calls_of(scope, before) if scope is not None else ():
            called = call_again(call, frame)
            if called is not None:
                self._finder.look(called.names, arithmetic_in(ast.Module(body=called.body, type_ignores=[])))


class Finder:
    """Tells of each line once; `looked` are those whose operands could be read."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.known: set[tuple[str, int]] = set()
        self.looked: dict[tuple[str, int], int] = {}

    def look_at_line(self, frame: FrameType) -> None:
        """Before a line runs, its operands are what it will work with."""
        file = frame.f_code.co_filename
        found = arithmetic_of(file).get(frame.f_lineno or 0, [])
        if found and self.looked.get((file, frame.f_lineno or 0), 0) < _MOST_LOOKS:
            self.look(frame, found)

    def look(self, frame: Names, found: list[Arithmetic]) -> None:
        for each in found:
            place, node = (frame.f_code.co_filename, each.line), each.node
            if place in self.known:
                continue
            left, right = value_of(node.left, frame), value_of(node.right, frame)
            if left is not MISSING and right is not MISSING:
                self.looked[place] = self.looked.get(place, 0) + 1
            outside = wrapped(node.op, left, right)
            if outside is None:
                continue
            self.known.add(place)
            self._recorder.observe(
                WrappedArithmetic(
                    step=self._recorder.step,
                    where=location(*place, frame.f_code.co_qualname),
                    expression=each.text,
                    names=(ast.unparse(node.left), ast.unparse(node.right)),
                    target=each.target,
                    operator=OPERATORS[type(node.op)],
                    dtype=str(getattr(left if _is_small(left) else right, "dtype", "")).removeprefix("torch."),
                    library="torch" if isinstance(left, torch.Tensor) else "numpy",
                    share=outside[0],
                    example=outside[1],
                )
            )


def value_of(node: ast.AST, frame: Names) -> Any:
    """A name, an attribute or an array's item, read without running any code of the user."""
    if isinstance(node, ast.Subscript):
        owner = value_of(node.value, frame)
        key = _index(node.slice, frame)
        if key is not MISSING and _is_array(owner):
            try:
                return owner[key]
            except Exception:  # noqa: BLE001 - an index that does not fit any more
                return MISSING
        return peek(node, frame)
    if isinstance(node, (ast.Name, ast.Attribute, ast.Constant)):
        return peek(node, frame)
    return MISSING


def _index(node: ast.AST, frame: Names) -> Any:
    if isinstance(node, ast.Tuple):
        parts = tuple(_index(part, frame) for part in node.elts)
        return MISSING if any(part is MISSING for part in parts) else parts
    if isinstance(node, ast.Constant) and node.value is ...:
        return ...
    if isinstance(node, ast.Slice):
        ends = [_index(end, frame) if end is not None else None for end in (node.lower, node.upper, node.step)]
        return MISSING if any(end is MISSING for end in ends) else slice(*ends)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        return -node.operand.value  # type: ignore[operator]
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        left, right = _index(node.left, frame), _index(node.right, frame)
        if isinstance(left, int) and isinstance(right, int):
            return left + right if isinstance(node.op, ast.Add) else left - right
        return MISSING
    value = peek(node, frame)
    return value if isinstance(value, int) else MISSING


def _is_array(thing: Any) -> bool:
    return type(thing) is torch.Tensor or _is_numpy(thing)


def _is_numpy(thing: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and type(thing) is numpy.ndarray


def _is_small(thing: Any) -> bool:
    return _is_array(thing) and str(thing.dtype).removeprefix("torch.") in _SMALL


def wrapped(op: ast.operator, left: Any, right: Any) -> tuple[float, tuple[int, int, int]] | None:
    """The share of results that wrap around, and an example; None where the type holds them (nearly) all."""
    small = [thing for thing in (left, right) if _is_small(thing)]
    other = right if small and small[0] is left else left
    if not small or not ((_is_small(other) and other.dtype == small[0].dtype) or type(other) is int):
        return None
    if small[0].shape == () or not all(_size(t) >= _LEAST_ELEMENTS for t in small):
        return None
    if max(map(_size, small)) > _MOST_ELEMENTS and len({tuple(t.shape) for t in small}) > 1:
        return None
    a, b = (_as_tensor(thing) for thing in (left, right))
    try:
        a, b = torch.broadcast_tensors(a, b)  # type: ignore[no-untyped-call]
    except RuntimeError:
        return None
    wide = [t.reshape(-1).to(torch.int64) for t in (a, b)]
    true = (
        wide[0] - wide[1]
        if isinstance(op, ast.Sub)
        else wide[0] + wide[1]
        if isinstance(op, ast.Add)
        else wide[0] * wide[1]
    )
    info = torch.iinfo(getattr(torch, str(small[0].dtype).removeprefix("torch.")))
    outside = (true < info.min) | (true > info.max)
    share = float(outside.double().mean()) if true.numel() else 0.0
    if share < (_LEAST_SHARE_OF_FEW if true.numel() < _FEW_ELEMENTS else _LEAST_SHARE):
        return None
    at = int(outside.double().argmax())
    return share, (int(wide[0][at]), int(wide[1][at]), _wrap(int(true[at]), info))


def _wrap(value: int, info: Any) -> int:
    size = info.max - info.min + 1
    return int((value - info.min) % size + info.min)


def _size(thing: Any) -> int:
    return int(thing.numel()) if isinstance(thing, torch.Tensor) else int(thing.size)


def _as_tensor(thing: Any) -> torch.Tensor:
    """The first elements of an array: arrays of equal shape are cut alike."""
    if type(thing) is int:
        return torch.tensor(thing, device="cpu")
    rows = max(1, thing.shape[0] * _MOST_ELEMENTS // max(1, _size(thing)))
    return (
        thing[:rows].detach().cpu()
        if isinstance(thing, torch.Tensor)
        else torch.from_numpy(thing[:rows].astype("int64"))
    )
