"""Watches `GradScaler`: it owns its own infinities, until its scale collapses or the loss itself is bad."""

from __future__ import annotations

import functools
import math
from typing import Any

import torch
from torch.amp import grad_scaler

from torchmedic.probes.events.autograd import scalar
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.objects.letters import Letter, send

# From the default scale of 2**16, seventeen skips bring it below 1.
_COLLAPSED_SCALE = 1.0


class Scalers:
    """Knows whether the present backward runs on a scaled loss, and how often the scaler skipped in a row."""

    def __init__(self) -> None:
        self._patches = Patches()
        self.is_scaling = False
        self.unscaled_loss: float | None = None
        self.scale: float | None = None
        self._on_its_way: Letter | None = None
        self._is_waited_for = False

    def install(self) -> None:
        original = grad_scaler.GradScaler.scale

        @functools.wraps(original)
        def scale(scaler: Any, outputs: Any) -> Any:
            with frame_hidden:
                result = original(scaler, outputs)
            if scaler.is_enabled():
                self._note(scaler, outputs)
            return result

        self._patches.replace(grad_scaler.GradScaler, "scale", scale)

    def remove(self) -> None:
        self._patches.restore()

    def _note(self, scaler: Any, outputs: Any) -> None:
        self.is_scaling = True
        if not isinstance(outputs, torch.Tensor) or outputs.numel() != 1:
            return
        if outputs.device.type != "cpu" and not self._last_was_bad():
            self._on_its_way = send([outputs, scaler._scale])
            return
        self.unscaled_loss, self.scale = scalar(outputs, wait=True), float(scaler.get_scale())

    def _last_was_bad(self) -> bool:
        """On a card the numbers of a step are read in the next one; once they are bad, every step is waited for.

        The scaler has skipped the sick step, so that nothing is spoiled meanwhile.
        """
        letter, self._on_its_way = self._on_its_way, None
        if letter is not None:
            loss, scale = letter.read()
            self._is_waited_for = not math.isfinite(loss) or scale < _COLLAPSED_SCALE
        return self._is_waited_for

    @property
    def loss_is_bad(self) -> bool:
        """Bad before scaling: no smaller scale can cure that."""
        return self.unscaled_loss is not None and not math.isfinite(self.unscaled_loss)

    @property
    def has_collapsed(self) -> bool:
        """Halved below 1 by skipping step after step."""
        return self.scale is not None and self.scale < _COLLAPSED_SCALE


class WithoutAutocast:
    """Makes `torch.autocast` do nothing between enter and exit, to try a step in full precision."""

    def __init__(self) -> None:
        self._patches = Patches()
        self.applied = 0

    def __enter__(self) -> WithoutAutocast:
        original = torch.autocast.__enter__

        def enter(context: Any) -> Any:
            was, context._enabled = context._enabled, False
            self.applied += bool(was)
            try:
                return original(context)  # type: ignore[no-untyped-call]
            finally:
                context._enabled = was

        self._patches.replace(torch.autocast, "__enter__", enter)
        return self

    def __exit__(self, *error: object) -> None:
        self._patches.restore()
