"""Turns calls of `backward` into events."""

from __future__ import annotations

import functools
import sys
import weakref
from types import FrameType
from typing import Any, TypeGuard

import torch
from torch.amp import grad_scaler

from torchmedic.journal import Backward
from torchmedic.probes.events.patching import Patches, frame_hidden, hide_frame
from torchmedic.probes.source.frames import standing
from torchmedic.record import Probe, Recorder, shielded


class Autograd(Probe):
    """Wraps `torch.autograd.backward`, through which `Tensor.backward` goes as well."""

    name = "autograd"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._unscaled: tuple[weakref.ref[torch.Tensor], torch.Tensor] | None = None
        original = torch.autograd.backward
        begin, end = shielded(self)(self._begin), shielded(self)(self._end)

        @functools.wraps(original)
        def backward(tensors: Any, *args: Any, **kwargs: Any) -> None:
            roots = (tensors,) if isinstance(tensors, torch.Tensor) else tuple(tensors)
            begin(roots, sys._getframe(1))
            try:
                original(tensors, *args, **kwargs)
            except Exception as error:
                hide_frame(error)
                raise
            end(roots)

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
            with frame_hidden:
                gradients = original(outputs, inputs, *args, **kwargs)
            asked = (outputs,) if isinstance(outputs, torch.Tensor) else tuple(outputs)
            self.recorder.emit("on_gradient_done", asked, gradients)
            return gradients

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

    def _begin(self, roots: tuple[Any, ...], caller: FrameType) -> None:
        recorder = self.recorder
        loss = roots[0] if len(roots) == 1 else None
        if self._unscaled is not None and self._unscaled[0]() is loss:
            loss = self._unscaled[1]
        recorder.loss = recorder.loss_on_card = None
        if _is_number(loss):
            if loss.is_cpu:
                recorder.loss = float(loss.item())
            else:
                recorder.loss_on_card = loss.detach()
        stack, recorder.backward_at = standing(caller)
        if not recorder.clock_is_held:
            recorder.stack = stack
        recorder.emit("on_backward", roots)

    def _end(self, roots: tuple[Any, ...]) -> None:
        recorder = self.recorder
        if not recorder.clock_is_held and recorder.is_ours:
            recorder.backwards += 1
            newest = -1
            for root in roots:
                node = getattr(root, "grad_fn", None)
                newest = newest if node is None else max(newest, node._sequence_nr())
            loss = recorder.loss if recorder.loss is not None else recorder.loss_on_card
            nodes = torch._C._autograd._get_sequence_nr()
            recorder.journal.write(Backward(recorder.step, loss, recorder.backward_at, newest, nodes))
        recorder.emit("on_backward_done", roots)

    def remove(self) -> None:
        self._patches.restore()


def scalar(root: Any, wait: bool = False) -> float | None:
    """A loss as a number; without `wait` only where reading it does not wait for a device."""
    if not _is_number(root):
        return None
    return float(root.item()) if wait or root.device.type == "cpu" else None


def _is_number(root: Any) -> TypeGuard[torch.Tensor]:
    return isinstance(root, torch.Tensor) and root.numel() == 1 and not root.is_complex()
