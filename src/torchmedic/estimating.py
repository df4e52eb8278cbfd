"""`torchmedic.estimate`: the memory of training a model, for notebooks and tests."""

from __future__ import annotations

import functools
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from torchmedic.checkups.memory.asking import PLAN_FILE
from torchmedic.checkups.memory.cards import UnknownCard, card_named
from torchmedic.checkups.memory.pretending import pretend_parameters
from torchmedic.facts import MemoryPlan, from_plain

_STEPS = 2
# Where autograd ran before the fork, its engine has no place for a card: the model is counted on the CPU instead.
_ENGINE = "device_ready_queues"


def GiB(amount: float) -> int:
    """Gibibytes in bytes.

    >>> GiB(2)
    2147483648
    """
    return int(amount * (1 << 30))


class EstimateError(RuntimeError):
    """The model could not be followed."""


class Estimate:
    """The answer: `peak` in bytes, and the whole plan."""

    def __init__(self, plan: MemoryPlan) -> None:
        self.plan = plan

    @property
    def peak(self) -> int:
        return self.plan.peak_allocated

    @property
    def reserved(self) -> int:
        return self.plan.peak_reserved

    @property
    def by_category(self) -> Mapping[str, int]:
        return self.plan.by_category

    def __str__(self) -> str:
        from torchmedic.render.memory import plan_lines

        return "\n".join(plan_lines(self.plan))


def estimate(
    model: torch.nn.Module,
    batch: Any,
    optimizer: Any = torch.optim.Adam,
    loss: Callable[..., torch.Tensor] | None = None,
    card: str = "H200",
) -> Estimate:
    """Peak memory of training `model` on `batch`, as if on a card; nothing is computed and the model stays as it is.

    `batch` is a tensor, a tuple or a dict of arguments. `optimizer` is a class or a function of the parameters.
    `loss` gets the model's output; without one, `output.loss`, `output["loss"]` or the mean of the output is taken.

    >>> import torch
    >>> estimate(torch.nn.Linear(8, 8), torch.zeros(4, 8)).peak < GiB(1)
    True
    """
    try:
        card_named(card)
    except UnknownCard as error:
        raise EstimateError(str(error)) from None
    train = functools.partial(_train, model, batch, optimizer, loss)
    plan = _followed(train, card, "cuda")
    if plan.lost is not None and _ENGINE in plan.lost.error:
        plan = _followed(train, card, "cpu")
    if plan.lost is not None:
        raise EstimateError(plan.lost.error)
    return Estimate(plan)


def _followed(train: Callable[[str], None], card: str, device: str) -> MemoryPlan:
    with tempfile.TemporaryDirectory(prefix="torchmedic-memory-") as scratch:
        child = os.fork()
        if child == 0:
            _in_child(Path(scratch), train, card, device)
        os.waitpid(child, 0)
        answer = Path(scratch) / PLAN_FILE
        if not answer.exists():
            raise EstimateError("the process that followed the model ended without an answer")
        plan: MemoryPlan = from_plain(MemoryPlan, json.loads(answer.read_text()))
    return plan


def _in_child(folder: Path, train: Callable[[str], None], card: str, device: str) -> None:
    """In a fork, so that the caller's process keeps its torch as it is."""
    from torchmedic.checkups.memory.session import follow_model

    status = 1
    try:
        torch.set_num_threads(1)
        follow_model(folder, functools.partial(train, device), card, device)
        status = 0
    finally:
        os._exit(status)


def _train(model: torch.nn.Module, batch: Any, optimizer: Any, loss: Any, device: str) -> None:
    if device == "cpu":
        pretend_parameters(model)
    model.to(device).train()
    stepper = optimizer(model.parameters())
    for _ in range(_STEPS):
        moved = _moved(batch, device)
        output = model(**moved) if isinstance(moved, Mapping) else model(*moved)
        (loss(output) if loss is not None else _loss_of(output)).backward()
        stepper.step()
        stepper.zero_grad()


def _moved(batch: Any, device: str) -> Any:
    if isinstance(batch, Mapping):
        return {name: _on(item, device) for name, item in batch.items()}
    return tuple(_on(item, device) for item in (batch if isinstance(batch, (tuple, list)) else (batch,)))


def _on(item: Any, device: str) -> Any:
    return item.to(device) if isinstance(item, torch.Tensor) else item


def _loss_of(output: Any) -> Any:
    if isinstance(output, torch.Tensor):
        return output.float().mean()
    found = output.get("loss") if isinstance(output, Mapping) else getattr(output, "loss", None)
    if found is None:
        first = output[0] if isinstance(output, (tuple, list)) else next(iter(output.values()))
        return first.float().mean()
    return found
