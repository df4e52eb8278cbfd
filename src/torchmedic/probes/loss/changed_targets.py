"""Targets that were changed together with the input: two names for one tensor, and a write into it in place."""

from __future__ import annotations

import ast
import functools
from typing import Any

import torch

from torchmedic.facts import LossCall, TargetChanged
from torchmedic.probes.graph.calls import TRANSPARENT, Call, CallTrace
from torchmedic.probes.graph.trace import storage_key
from torchmedic.probes.source.aliases import SharedWrite, shared_writes
from torchmedic.probes.source.frames import location
from torchmedic.record import Recorder

_MOST_FED = 4
_PICKING = TRANSPARENT | {"where", "masked_fill"}
_MOST_ELEMENTS = 1_000_000
_MOST_COPIES = 8
_MOST_FACTS = 8


class ChangedTargets:
    """Remembers what layers were given in an examined step, and whether the target lies in the same memory."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._from: dict[int, int] = {}
        self._fed: dict[int, torch.Tensor] = {}
        self._told = 0

    def close(self) -> None:
        self._from.clear()
        self._fed.clear()

    def look(self, call: Call, args: tuple[Any, ...], result: Any) -> None:
        given = _picked_from(call, args, result)
        if given is None or given.requires_grad:
            return
        if call.name in _PICKING and isinstance(result, torch.Tensor):
            made, base = storage_key(result), storage_key(given)
            if made != base:
                self._from[made] = base
        elif call.inside_module and len(self._fed) < _MOST_FED and given.numel() <= _MOST_ELEMENTS:
            self._fed.setdefault(self._root(given), given.detach())

    def _root(self, tensor: torch.Tensor) -> int:
        """The memory that a tensor's values were picked or copied from."""
        key = storage_key(tensor)
        for _ in range(_MOST_COPIES):
            key = self._from.get(key, key)
        return key

    def look_at_loss(self, trace: CallTrace, seen: LossCall, target: torch.Tensor) -> None:
        if not trace.writes or self._told >= _MOST_FACTS or target.requires_grad:
            return
        root = self._root(target)
        fed = self._fed.get(root)
        written = [place for key, place in trace.writes if self._from.get(key, key) == root]
        if fed is None or not written:
            # What a data set or a collator has put together lies in new memory, and is still the same.
            fed = next((one for one in self._fed.values() if _is_equal(one, target)), None)
            written = [place for _, place in trace.writes]
        if fed is None:
            return
        is_one_value = target.numel() > 1 and bool((target == target.flatten()[0]).all())
        for write in _shared_writes():
            lines = range(write.written.lineno, (write.written.end_lineno or write.written.lineno) + 1)
            is_run = any(place.line in lines and place.code.co_filename == write.file for place in written)
            if is_run and (write.is_drawn or is_one_value):
                self._tell(seen, write)
                return

    def _tell(self, seen: LossCall, write: SharedWrite) -> None:
        self._told += 1
        self._recorder.observe(
            TargetChanged(
                step=self._recorder.step,
                function=seen.function,
                names=seen.names,
                where=seen.where,
                name=write.name,
                other=write.other,
                written=location(write.file, write.written.lineno, write.function),
                written_text=ast.unparse(write.written),
                bound=location(write.file, write.bound.lineno, write.function) if write.bound is not None else None,
                bound_text=ast.unparse(write.bound) if write.bound is not None else "",
            )
        )


def _picked_from(call: Call, args: tuple[Any, ...], result: Any) -> torch.Tensor | None:
    """The tensor whose values a call was given: of `where`, the one that its result is like."""
    tensors = [argument for argument in args if isinstance(argument, torch.Tensor)]
    if call.name == "where" and isinstance(result, torch.Tensor):
        tensors = [one for one in tensors if (one.shape, one.dtype) == (result.shape, result.dtype)]
    return tensors[0] if tensors and (tensors[0] is args[0] or call.name == "where") else None


@functools.cache
def _shared_writes() -> list[SharedWrite]:
    return shared_writes()


def _is_equal(fed: torch.Tensor, target: torch.Tensor) -> bool:
    return (
        fed.dtype == target.dtype
        and fed.numel() == target.numel() > 1
        and fed.device == target.device
        and bool((fed.flatten() == target.flatten()).all())
    )
