"""Runs cases with torchdiag's checks: the summary at the start, gradients after the first and the last backward.

Dead neurons are looked for with the first input of the model; `verify_step` needs the loss function as an argument and
cannot be asked from outside of a script.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from typing import Any

import torch
import torchdiag
from torch import nn
from watching import run_watched, serve


class Checked:
    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.issues = issues_of(torchdiag.summary, model)
        self.inputs: Any = None
        self.is_first = True
        self.hook = model.register_forward_pre_hook(self.keep_input)

    def keep_input(self, model: nn.Module, inputs: tuple[Any, ...]) -> None:
        self.hook.remove()
        self.inputs = inputs[0] if len(inputs) == 1 and isinstance(inputs[0], torch.Tensor) else None

    def after_backward(self, loss: torch.Tensor) -> None:
        if self.is_first:
            self.is_first = False
            self.issues += issues_of(torchdiag.check_gradients, self.model)

    def after_step(self, loss: float) -> None: ...

    def findings(self) -> list[str]:
        if any(p.grad is not None for p in self.model.parameters()):
            self.issues += issues_of(torchdiag.check_gradients, self.model)
        if self.inputs is not None:
            self.issues += issues_of(torchdiag.check_dead_neurons, self.model, self.inputs)
        return self.issues


def issues_of(check: Callable[..., object], *args: object) -> list[str]:
    """The lines that a check prints below "issues" or "warnings"."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        check(*args)
    return [line.strip(" •") for line in printed.getvalue().splitlines() if line.startswith("  •")]


if __name__ == "__main__":
    serve(lambda told: run_watched(lambda model, _: Checked(model), told))
