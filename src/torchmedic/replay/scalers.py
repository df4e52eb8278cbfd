"""Watches `GradScaler`: it owns its own infinities, until its scale collapses or the loss itself is bad."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch.amp import grad_scaler

from torchmedic.probes.patching import Patches
from torchmedic.replay.guard import scalar

# From the default scale of 2**16, seventeen skips in a row bring it below 1.
_COLLAPSED_SCALE = 1.0
_BAD_LOSSES_IN_A_ROW = 2


class Scalers:
    """Knows whether the present backward runs on a scaled loss, and how often the scaler skipped in a row."""

    def __init__(self) -> None:
        self._patches = Patches()
        self.is_scaling = False
        self.unscaled_loss: float | None = None
        self.scale: float | None = None
        self._bad_losses = 0

    def install(self) -> None:
        original = grad_scaler.GradScaler.scale

        @functools.wraps(original)
        def scale(scaler: Any, outputs: Any) -> Any:
            result = original(scaler, outputs)
            if scaler.is_enabled():
                self._note(scaler, outputs)
            return result

        self._patches.replace(grad_scaler.GradScaler, "scale", scale)

    def remove(self) -> None:
        self._patches.restore()

    def _note(self, scaler: Any, outputs: Any) -> None:
        self.is_scaling = True
        if isinstance(outputs, torch.Tensor):
            self.unscaled_loss = scalar(outputs)
        if isinstance(outputs, torch.Tensor) and outputs.device.type == "cpu":
            self.scale = float(scaler.get_scale())
        bad = self.unscaled_loss is not None and self.unscaled_loss - self.unscaled_loss != 0
        self._bad_losses = self._bad_losses + 1 if bad else 0

    def has_collapsed(self, roots: tuple[Any, ...]) -> bool:
        """A loss that is bad before scaling, twice in a row, or a scale that has gone below 1 by skipping."""
        if self._bad_losses >= _BAD_LOSSES_IN_A_ROW:
            return True
        return self.scale is not None and self.scale < _COLLAPSED_SCALE

    @staticmethod
    def autocast_name() -> str:
        """The autocast type that is in force for the device of the step, or an empty string."""
        for device in ("cuda", "cpu"):
            if torch.is_autocast_enabled(device):
                return str(torch.get_autocast_dtype(device)).removeprefix("torch.")
        return ""
