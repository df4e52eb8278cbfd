"""Watches optimizers: the step clock, and who is stepped when."""

from __future__ import annotations

from typing import Any

from torch.optim import optimizer as torch_optimizer

from torchmedic.record import Probe, Recorder


class Optimizers(Probe):
    """Turns torch's global optimizer hooks into events."""

    name = "optimizers"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._handles = [
            torch_optimizer.register_optimizer_step_pre_hook(self._before),
            torch_optimizer.register_optimizer_step_post_hook(self._after),
        ]

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()

    def _before(self, optimizer: Any, args: Any, kwargs: Any) -> Any:
        return self.recorder.emit("on_step", optimizer, args, kwargs)

    def _after(self, optimizer: Any, _args: Any, _kwargs: Any) -> None:
        self.recorder.count_step(optimizer)
        self.recorder.emit("on_step_done", optimizer)
