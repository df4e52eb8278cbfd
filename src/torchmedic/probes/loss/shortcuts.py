"""Shortcuts of residual blocks: was what they add changed in place on the way through the block."""

from __future__ import annotations

import ast
import functools
import sys
from types import CodeType
from typing import Any

import torch

from torchmedic.facts import ShortcutChanged
from torchmedic.late import late_dataclass
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.graph.calls import Call, CallTrace
from torchmedic.probes.loss.activations import LEARNED
from torchmedic.probes.source.expressions import parsed
from torchmedic.probes.source.frames import is_user_file, outward
from torchmedic.probes.source.positions import operand_names
from torchmedic.record import Recorder

_ACTIVATIONS = frozenset(("relu", "relu6", "leaky_relu", "elu", "selu", "celu", "hardtanh", "threshold", "rrelu"))
_SUMS = frozenset(("add", "radd", "iadd"))
_LEAST_SHARE = 0.02
_MOST_FRAMES = 40
_MOST_FACTS = 40


@late_dataclass()
class _Change:
    """An activation that wrote over what it was given, and who still holds that, by function and name."""

    call: Call
    share: float
    holders: frozenset[tuple[CodeType, str]]


class Shortcuts:
    """Remembers the activations of an examined step that changed what somebody else still holds."""

    def __init__(self, recorder: Recorder, modules: Modules) -> None:
        self._recorder = recorder
        self._modules = modules
        self._changed: dict[int, _Change] = {}
        self._told = 0

    def look(self, trace: CallTrace, call: Call, args: tuple[Any, ...], result: Any) -> None:
        if call.name in _ACTIVATIONS and args and result is args[0] and isinstance(result, torch.Tensor):
            self._note(trace, call, result)
        elif self._changed and call.name in _SUMS and call.is_users and call.place is not None:
            self._look_at_sum(trace, call)

    def close(self) -> None:
        self._changed.clear()

    def _note(self, trace: CallTrace, call: Call, tensor: torch.Tensor) -> None:
        maker = trace.maker_of_read(call.reads[0])
        if maker is None or not _makes_negatives(trace, maker):
            return
        share = float((tensor.detach() <= 0).float().mean())
        holders = _holders(tensor) if share >= _LEAST_SHARE else frozenset()
        if holders:
            self._changed[call.index] = _Change(call, share, holders)

    def _look_at_sum(self, trace: CallTrace, call: Call) -> None:
        assert call.place is not None
        names = operand_names(call.place.expression())
        for read in call.reads:
            change = self._changed.get(read.maker) if read.maker is not None else None
            if change is None or change.call.reads[0].key != read.key:
                continue
            held = next((name for name in names if (call.place.code, name) in change.holders), None)
            others = [other.maker for other in call.reads if other.key != read.key]
            if held is not None and others and change.call.index in trace.ancestors(*others):
                self._tell(call, change, held)
                return

    def _tell(self, call: Call, change: _Change, name: str) -> None:
        self._told += 1
        layer, place = change.call.layer, change.call.place
        if self._told > _MOST_FACTS or call.place is None:
            return
        self._recorder.observe(
            ShortcutChanged(
                step=self._recorder.step,
                where=call.place.location(),
                expression=call.place.expression(),
                name=name,
                op=change.call.name,
                layer=type(layer).__name__ if layer is not None else "",
                layer_built=self._modules.born_at(layer) if layer is not None else None,
                changed_at=place.location() if place is not None else None,
                share=change.share,
            )
        )


def _makes_negatives(trace: CallTrace, maker: Call) -> bool:
    """Whether a call gives numbers of both signs: what an activation has made is not changed by the next one."""
    if maker.name in LEARNED:
        return True
    makers = [trace.maker_of_read(read) for read in maker.reads] if maker.name in _SUMS else []
    return any(one is not None and one.name in LEARNED for one in makers)


def _holders(tensor: torch.Tensor) -> frozenset[tuple[CodeType, str]]:
    """Variables of the user's functions that hold a tensor, and that the statement under way does not bind anew."""
    found: set[tuple[CodeType, str]] = set()
    for frame, _ in zip(outward(sys._getframe(2)), range(_MOST_FRAMES), strict=False):
        if is_user_file(frame.f_code.co_filename) and frame.f_code.co_name != "<module>":
            names = [name for name, value in frame.f_locals.items() if value is tensor]
            bound = _bound_on(frame.f_code.co_filename, frame.f_lineno or 0) if names else frozenset()
            found.update((frame.f_code, name) for name in names if name not in bound)
    return frozenset(found)


@functools.lru_cache(maxsize=512)
def _bound_on(file: str, line: int) -> frozenset[str]:
    """The names that the statement on a line gives a value."""
    tree = parsed(file)
    around = [
        node
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign))
        and node.lineno <= line <= (node.end_lineno or 0)
    ]
    inner = (part for node in around for part in ast.walk(node))
    return frozenset(n.id for n in inner if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
