"""`assert_finite`: the old habit of sprinkling asserts, without waiting for a device."""

from __future__ import annotations

import os
import sys
from typing import Any

import torch
from torch.optim import optimizer as torch_optimizer

from torchmedic.facts import Location
from torchmedic.probes.objects.values import torch_summary
from torchmedic.probes.source.frames import location_of
from torchmedic.probes.source.positions import expression_at, operand_names

_OFF = os.environ.get("TORCHMEDIC_ASSERT", "1") in ("0", "off", "false") or not __debug__
_pending: list[tuple[torch.Tensor, str, Location, torch.Tensor]] = []
_reader: list[Any] = []


class NonFiniteError(FloatingPointError):
    """A tensor that should have been finite is not; names it, its line and what it holds."""


def assert_finite(*tensors: Any, name: str = "") -> None:
    """Raise `NonFiniteError` if a tensor holds NaN or infinity; free when TORCHMEDIC_ASSERT=0 or under `python -O`.

    On the host the answer is immediate. On a device the question is put without waiting, and answered when the next
    `optimizer.step()` begins, with the line that asked.

    >>> assert_finite(torch.ones(3))
    """
    if _OFF:
        return
    frame = sys._getframe(1)
    names = operand_names(expression_at(frame.f_code, frame.f_lasti))
    for i, tensor in enumerate(tensors):
        if not isinstance(tensor, torch.Tensor) or not (tensor.is_floating_point() or tensor.is_complex()):
            continue
        shown = name or (names[i] if i < len(names) else f"argument {i}")
        fine = torch.isfinite(tensor.detach()).all()
        if tensor.device.type == "cpu":
            if not bool(fine):
                raise NonFiniteError(_message(shown, location_of(frame), tensor))
        else:
            _ask_later(fine, shown, location_of(frame), tensor.detach())


def _ask_later(fine: torch.Tensor, name: str, where: Location, tensor: torch.Tensor) -> None:
    if not _reader:
        _reader.append(torch_optimizer.register_optimizer_step_pre_hook(lambda *_: read_pending()))
    _pending.append((fine, name, where, tensor))


def read_pending() -> None:
    """Answer the questions put since the last step; called when an optimizer's step begins."""
    asked, _pending[:] = list(_pending), []
    for fine, name, where, tensor in asked:
        if not bool(fine):
            raise NonFiniteError(_message(name, where, tensor.cpu()))


def _message(name: str, where: Location, tensor: torch.Tensor) -> str:
    summary = torch_summary(tensor)
    known = "" if summary.minimum is None else f"; the rest from {summary.minimum:.4g} to {summary.maximum:.4g}"
    counted = f"{summary.nan} NaN and {summary.inf} infinite of {summary.numel} values"
    return f"`{name}` at {where} is not finite: {counted} ({summary}){known}"
