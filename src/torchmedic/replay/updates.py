"""Runs an update again that made weights bad although all gradients were finite, to find the line that did it."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from torchmedic.probes.events.optimizers import parameters_of
from torchmedic.replay.beginnings import Withheld
from torchmedic.replay.case import Case
from torchmedic.replay.finite import bad_tensors
from torchmedic.replay.generators import RandomStates
from torchmedic.replay.guard import Guard
from torchmedic.replay.microscope import investigate, microscope


def look_into(optimizer: Any, guard: Guard, roots: list[nn.Module], step: int) -> Case | None:
    """The case of an optimizer that the user wrote, whose weights and state are those before the update.

    They are left as they were. None for torch's own optimizers, whose lines are not the user's to edit, and where the
    update does not do the same again.
    """
    update = _without_hooks(optimizer)
    if update is None or type(optimizer).__module__.startswith("torch."):
        return None
    before, random = Withheld(optimizer), RandomStates.now()
    trace = microscope()
    trace.name_modules(roots)
    try:
        with trace:
            update(optimizer)
        parameters = parameters_of(optimizer)
        makers = [trace.maker_of(p) for p in parameters if bad_tensors([p.detach()])]
    finally:
        before.put_back()
        random.restore()
    findings = investigate(trace, [index for index in makers if index is not None])
    if findings is None:
        return None
    suspicion = guard.suspect_now("update")
    suspicion.step = step
    case = Case(step, suspicion, optimizer, guard, roots)
    case.trace, case.findings, case.is_reproduced = trace, findings, True
    return case


def _without_hooks(optimizer: Any) -> Any:
    """The `step` that the class defines: torch wraps it with calls of the hooks, ours among them."""
    written = getattr(type(optimizer).step, "__wrapped__", None)
    return torch.no_grad()(written) if written is not None else None
