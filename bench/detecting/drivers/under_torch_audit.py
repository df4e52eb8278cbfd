"""Runs cases under torch-audit's `autopatch`, audited at every step; warnings and worse count."""

from __future__ import annotations

import torch
from torch import nn
from torch_audit import autopatch
from watching import run_watched, serve

ORDER = ["FATAL", "ERROR", "WARN"]


class Audited:
    def __init__(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        self.auditor = autopatch(model, optimizer=optimizer, every_n_steps=1, run_static=True, run_init=True)

    def after_backward(self, loss: torch.Tensor) -> None: ...
    def after_step(self, loss: float) -> None: ...

    def findings(self) -> list[str]:
        loud = [f for f in self.auditor.finish(report=False).findings if f.severity.value in ORDER]
        loud.sort(key=lambda finding: ORDER.index(finding.severity.value))
        return [f"{f.rule_id} {f.message} {f.module_path or ''} {f.entity or ''}" for f in loud]


if __name__ == "__main__":
    serve(lambda told: run_watched(Audited, told))
