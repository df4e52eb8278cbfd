"""Turns calls of `backward` into events."""

from __future__ import annotations

import functools
import sys
from typing import Any

import torch
from torch.amp import grad_scaler

from torchmedic.probes.frames import user_frame
from torchmedic.probes.patching import Patches, hide_frame
from torchmedic.record import Probe, Recorder


class Autograd(Probe):
    """Wraps `torch.autograd.backward`, through which `Tensor.backward` goes as well."""

    name = "autograd"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        original = torch.autograd.backward

        @functools.wraps(original)
        def backward(tensors: Any, *args: Any, **kwargs: Any) -> None:
            roots = (tensors,) if isinstance(tensors, torch.Tensor) else tuple(tensors)
            _note_loss(recorder, roots)
            at = user_frame(sys._getframe(1))
            recorder.backward_at = (at.f_code, at.f_lasti) if at is not None else None
            recorder.emit("on_backward", roots)
            try:
                original(tensors, *args, **kwargs)
            except Exception as error:
                hide_frame(error)
                raise
            recorder.emit("on_backward_done", roots)

        self._patches.replace(torch.autograd, "backward", backward)
        self._watch_grad()
        self._watch_scaler()

    def _watch_grad(self) -> None:
        original = torch.autograd.grad

        @functools.wraps(original)
        def grad(outputs: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
            given = (
                (inputs,)
                if isinstance(inputs, torch.Tensor)
                else tuple(inputs)
                if isinstance(inputs, (list, tuple))
                else ()
            )
            self.recorder.emit("on_gradient_of", given)
            return original(outputs, inputs, *args, **kwargs)

        self._patches.replace(torch.autograd, "grad", grad)

    def _watch_scaler(self) -> None:
        """A gradient scaler multiplies the loss: whoever follows the loss wants it as it was."""
        original = grad_scaler.GradScaler.scale

        @functools.wraps(original)
        def scale(scaler: Any, outputs: Any) -> Any:
            result = original(scaler, outputs)
            if _is_number(result) and result is not outputs:
                result.torchmedic_unscaled = outputs.detach()
            return result

        self._patches.replace(grad_scaler.GradScaler, "scale", scale)

    def remove(self) -> None:
        self._patches.restore()


def _note_loss(recorder: Recorder, roots: tuple[Any, ...]) -> None:
    loss = getattr(roots[0], "torchmedic_unscaled", roots[0]) if len(roots) == 1 else None
    recorder.loss = scalar(loss)
    recorder.loss_on_card = loss.detach() if loss is not None and recorder.loss is None and _is_number(loss) else None


def scalar(root: Any, wait: bool = False) -> float | None:
    """A loss as a number; without `wait` only where reading it does not wait for a device."""
    if not _is_number(root):
        return None
    return float(root.item()) if wait or root.device.type == "cpu" else None


def _is_number(root: Any) -> bool:
    return isinstance(root, torch.Tensor) and root.numel() == 1 and not root.is_complex()
