"""The exam of borrowed weights: plain tensors on a module that came out of a layer built for nothing else."""

from __future__ import annotations

import ast
from typing import Any

import torch

from torchmedic.facts import BorrowedWeight, Location
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.optimizers import Optimizers
from torchmedic.probes.objects.holdings import Fingerprint
from torchmedic.probes.source.sources import hung_at
from torchmedic.record import Probe, Recorder

_MOST_MODULES = 2_000


class BorrowedExam(Probe):
    """Looks once, at the first step, and again at the end: what has not moved by then was never trained."""

    name = "borrowed-exam"

    def __init__(self, modules: Modules, optimizers: Optimizers) -> None:
        self._modules = modules
        self._optimizers = optimizers

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._found: list[tuple[BorrowedWeight, torch.Tensor, Fingerprint]] = []

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.recorder.rest(self)
        built = self._optimizers.built_at(optimizer)
        for module in list(self._modules.alive())[:_MOST_MODULES]:
            for attribute, thing in list(vars(module).items()):
                if isinstance(thing, torch.Tensor) and thing.is_floating_point() and not thing.requires_grad:
                    self._note(type(module), attribute, thing, built)

    def _note(self, owner: type, attribute: str, tensor: torch.Tensor, built: Location | None) -> None:
        hung = hung_at(owner, attribute)
        if hung is None or not is_borrowed(hung.source):
            return
        fact = BorrowedWeight(
            owner=owner.__name__, attribute=attribute, shape=tuple(tensor.shape), hung=hung, optimizer_built=built
        )
        self._found.append((fact, tensor.detach(), Fingerprint.of(tensor)))

    def on_finish(self) -> None:
        for fact, tensor, then in self._found:
            if then.fits(tensor):
                self.recorder.observe(fact)
        self._found.clear()


def is_borrowed(source: str) -> bool:
    """Whether an assignment takes the weight or bias out of a layer that it builds on the spot.

    >>> is_borrowed("self.w = nn.Linear(8, 8).weight.data"), is_borrowed("self.w = layer.weight.data")
    (True, False)
    """
    try:
        statement = ast.parse(source.strip()).body[0]
    except (SyntaxError, IndexError):
        return False
    value = getattr(statement, "value", None)
    return any(
        isinstance(node, ast.Attribute) and node.attr in ("weight", "bias") and isinstance(node.value, ast.Call)
        for node in (ast.walk(value) if value is not None else ())
    )
