"""What the drivers share: run `train.py` of the working directory with a tool attached to whatever it trains.

A driver is a script `driver.py OUT`. The tool is attached when the first optimizer of a model is built, since the cases
are scripts of other people that must not be edited; what it found goes to OUT, as does the failure of the tool itself.
"""

from __future__ import annotations

import functools
import gc
import json
import runpy
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import nn


class Tool(Protocol):
    """A tool that looks at one model."""

    def after_backward(self, loss: torch.Tensor) -> None: ...
    def after_step(self, loss: float) -> None: ...
    def findings(self) -> list[str]:
        """What it has to say, the gravest first."""


class Attached:
    """Every tool that was attached, and the first failure of one."""

    def __init__(self, attach: Callable[[nn.Module, torch.optim.Optimizer], Tool]) -> None:
        self.attach = attach
        self.tools: list[Tool] = []
        self.models: set[int] = set()
        self.loss = float("nan")
        self.failure = ""

    def call(self, work: Callable[[], Any]) -> Any:
        """A failure of the tool is noted and does not reach the script."""
        try:
            return work()
        except Exception:  # noqa: BLE001 -- whatever a tool raises is a result of the bench
            self.failure = self.failure or traceback.format_exc().strip().splitlines()[-1]
            return None

    def meet(self, optimizer: torch.optim.Optimizer) -> None:
        for model in trained_by(optimizer):
            if id(model) not in self.models:
                self.models.add(id(model))
                tool = self.call(lambda model=model: self.attach(model, optimizer))
                self.tools += [tool] if tool is not None else []
        optimizer.register_step_post_hook(lambda *_: self.each(lambda tool: tool.after_step(self.loss)))

    def saw_backward(self, loss: torch.Tensor) -> None:
        if loss.numel() == 1:
            self.loss = loss.item()
            self.each(lambda tool: tool.after_backward(loss))

    def each(self, work: Callable[[Tool], None]) -> None:
        for tool in self.tools:
            self.call(lambda tool=tool: work(tool))

    def findings(self) -> list[str]:
        return [text for tool in self.tools for text in self.call(tool.findings) or ()]


def trained_by(optimizer: torch.optim.Optimizer) -> list[nn.Module]:
    """The outermost modules that hold a parameter of an optimizer."""
    held = {id(p) for group in optimizer.param_groups for p in group["params"]}
    modules = [m for m in gc.get_objects() if issubclass(type(m), nn.Module)]
    holding = [m for m in modules if any(id(p) in held for p in m.parameters())]
    inner = {id(child) for m in holding for child in m.modules() if child is not m}
    return [m for m in holding if id(m) not in inner]


def run_case(attach: Callable[[nn.Module, torch.optim.Optimizer], Tool]) -> None:
    """Run `train.py` watched by a tool, and write what the tool found."""
    attached = Attached(attach)
    out = Path(sys.argv[1]).resolve()
    _patch(attached)
    sys.argv, sys.path[0] = ["train.py"], str(Path.cwd())
    try:
        runpy.run_path("train.py", run_name="__main__")
    finally:
        told = {"findings": attached.findings(), "failure": attached.failure}
        out.write_text(json.dumps(told), encoding="utf-8")


def _patch(attached: Attached) -> None:
    build, backward = torch.optim.Optimizer.__init__, torch.Tensor.backward

    @functools.wraps(build)
    def built(self: torch.optim.Optimizer, *args: Any, **kwargs: Any) -> None:
        build(self, *args, **kwargs)
        attached.meet(self)

    @functools.wraps(backward)
    def went_back(self: torch.Tensor, *args: Any, **kwargs: Any) -> None:
        backward(self, *args, **kwargs)
        attached.saw_backward(self)

    torch.optim.Optimizer.__init__ = built  # type: ignore[method-assign]
    torch.Tensor.backward = went_back  # type: ignore[method-assign]
