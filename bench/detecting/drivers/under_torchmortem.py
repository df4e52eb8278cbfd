"""Runs cases under torchmortem's `Autopsy`, stepped as its page says; warnings and worse count."""

from __future__ import annotations

import torch
from torch import nn
from torchmortem import Autopsy
from watching import run_watched, serve


class Examined:
    def __init__(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        self.autopsy = Autopsy(model, optimizer=optimizer)
        self.autopsy.attach()

    def after_backward(self, loss: torch.Tensor) -> None: ...

    def after_step(self, loss: float) -> None:
        self.autopsy.step(loss=loss)

    def findings(self) -> list[str]:
        self.autopsy.detach()
        report = self.autopsy.get_report()
        loud = [f for f in report.findings if f.severity.name != "INFO"]
        loud.sort(key=lambda finding: -finding.severity)
        return [f"{f.title}: {f.summary} {f.detail} {' '.join(f.remediation)}" for f in loud]


if __name__ == "__main__":
    serve(lambda told: run_watched(Examined, told))
