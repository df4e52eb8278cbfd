"""Turns calls of `backward` into events."""

from __future__ import annotations

import functools
import sys
import weakref
from typing import Any, TypeGuard

import torch
from torch.amp import grad_scaler

from torchmedic.probes.frames import user_frame
from torchmedic.probes.patching import Patches, frame_hidden, hide_frame
from torchmedic.record import Probe, Recorder, shielded


class Autograd(Probe):
    """Wraps `torch.autograd.backward`, through which `Tensor.backward` goes as well."""

    name = "autograd"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._unscaled: tuple[weakref.ref[torch.Tensor], torch.Tensor] | None = None
        original = torch.autograd.backward
        note_loss = shielded(self)(self._note_loss)

        @functools.wraps(original)
        def backward(tensors: Any, *args: Any, **kwargs: Any) -> None:
            roots = (tensors,) if isinstance(tensors, torch.Tensor) else tuple(tensors)
            note_loss(roots)
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
        remember = shielded(self)(self._remember)

        @functools.wraps(original)
        def scale(scaler: Any, outputs: Any) -> Any:
            with frame_hidden:
                result = original(scaler, outputs)
            remember(result, outputs)
            return result

        self._patches.replace(grad_scaler.GradScaler, "scale", scale)

    def _remember(self, scaled: Any, loss: Any) -> None:
        if _is_number(scaled) and _is_number(loss):
            self._unscaled = weakref.ref(scaled), loss.detach()

    def _note_loss(self, roots: tuple[Any, ...]) -> None:
        loss = roots[0] if len(roots) == 1 else None
        if self._unscaled is not None and self._unscaled[0]() is loss:
            loss = self._unscaled[1]
        self.recorder.loss = scalar(loss)
        self.recorder.loss_on_card = loss.detach() if self.recorder.loss is None and _is_number(loss) else None

    def remove(self) -> None:
        self._patches.restore()


def scalar(root: Any, wait: bool = False) -> float | None:
    """A loss as a number; without `wait` only where reading it does not wait for a device."""
    if not _is_number(root):
        return None
    return float(root.item()) if wait or root.device.type == "cpu" else None


def _is_number(root: Any) -> TypeGuard[torch.Tensor]:
    return isinstance(root, torch.Tensor) and root.numel() == 1 and not root.is_complex()
