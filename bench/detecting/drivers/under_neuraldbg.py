"""Runs cases under NeuralDBG, asked about each kind of failure that its page lists; the surest answer is first."""

from __future__ import annotations

import torch
from neuraldbg import NeuralDbg
from torch import nn
from watching import run_watched, serve

KINDS = ["vanishing_gradients", "exploding_gradients", "dead_neurons", "saturated_activations"]
KINDS += ["optimizer_instability", "data_anomaly"]


class Debugged:
    def __init__(self, model: nn.Module) -> None:
        self.debugger = NeuralDbg(model)
        self.debugger.__enter__()

    def after_backward(self, loss: torch.Tensor) -> None:
        self.debugger.record_loss(loss.item())

    def after_step(self, loss: float) -> None: ...

    def findings(self) -> list[str]:
        self.debugger.__exit__(None, None, None)
        hypotheses = [h for kind in KINDS for h in self.debugger.explain_failure(kind)]
        hypotheses.sort(key=lambda hypothesis: -hypothesis.confidence)
        return [h.description for h in hypotheses]


if __name__ == "__main__":
    serve(lambda told: run_watched(lambda model, _: Debugged(model), told))
