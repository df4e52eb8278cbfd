"""What the drivers share: run the `train.py` of cases with a tool attached to whatever they train.

A tool is attached when the first optimizer of a model is built, since the cases are scripts of other people that must
not be edited; what it found is written down, as is the failure of the tool itself. A driver imports torch and its tool
once, then reads orders, one JSON object a line, and obeys each in a fork: importing takes longer than most cases.
"""

from __future__ import annotations

import functools
import gc
import json
import os
import runpy
import signal
import sys
import time
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


def run_watched(attach: Callable[[nn.Module, torch.optim.Optimizer], Tool], told: Path) -> None:
    """Run `train.py` watched by a tool, and write what the tool found."""
    attached = Attached(attach)
    _patch(attached)
    try:
        run_script()
    finally:
        answer = {"findings": attached.findings(), "failure": attached.failure}
        told.write_text(json.dumps(answer), encoding="utf-8")


def run_script() -> None:
    """Run `train.py` of the working directory as if it had been started by itself."""
    sys.argv, sys.path[0] = ["train.py"], str(Path.cwd())
    runpy.run_path("train.py", run_name="__main__")


def serve(run: Callable[[Path], None]) -> None:
    """Obey orders: run the case in `work` for `seconds`, its answer to `told`, what it prints on stderr to `errors`."""
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            _obey(run, order)
        print(json.dumps({"is_late": not _has_ended(child, order["seconds"])}), flush=True)


def _obey(run: Callable[[Path], None], order: dict[str, Any]) -> None:
    errors = os.open(order["errors"], os.O_WRONLY | os.O_CREAT)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number, replacement in enumerate((nothing, nothing, errors)):
        os.dup2(replacement, number)
    os.chdir(order["work"])
    try:
        run(Path(order["told"]))
    except BaseException:  # noqa: BLE001 -- the traceback of the script is what its user would see
        traceback.print_exc()
    sys.stderr.flush()
    os._exit(0)


def _has_ended(child: int, seconds: float) -> bool:
    """Wait for a child, and end it when its time is over."""
    until = time.monotonic() + seconds
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return False
        time.sleep(0.05)
    return True


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
