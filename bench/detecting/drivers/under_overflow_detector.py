"""Runs cases under `DebugUnderflowOverflow` of Transformers, which ends a run at the first NaN or infinity."""

from __future__ import annotations

import contextlib
import io

import torch
from torch import nn
from transformers.debug_utils import DebugUnderflowOverflow
from watching import run_watched, serve


class Detector:
    def __init__(self, model: nn.Module) -> None:
        self.debug = DebugUnderflowOverflow(model)
        self.printed = io.StringIO()
        say = self.debug.dump_saved_frames

        def kept() -> None:
            with contextlib.redirect_stdout(self.printed):
                say()

        self.debug.dump_saved_frames = kept

    def after_backward(self, loss: torch.Tensor) -> None: ...
    def after_step(self, loss: float) -> None: ...

    def findings(self) -> list[str]:
        return [self.printed.getvalue()] if self.printed.getvalue() else []


if __name__ == "__main__":
    serve(lambda told: run_watched(lambda model, _: Detector(model), told))
