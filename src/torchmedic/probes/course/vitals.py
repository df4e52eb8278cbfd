"""The vitals: loss, learning rate, memory, and the size of each layer's gradient and weight, sampled over the run."""

from __future__ import annotations

import statistics
import time
import weakref
from collections import deque
from dataclasses import field
from typing import Any

import torch

from torchmedic.facts.series import (
    ACTIVATION,
    DEVICE_MEMORY,
    GRADIENT,
    HOST_MEMORY,
    LOSS,
    LOSS_HIGH,
    LOSS_LOW,
    RATE,
    WEIGHT,
    LayersWatched,
)
from torchmedic.journal import Page, Update
from torchmedic.late import late_dataclass
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.outputs import Outputs
from torchmedic.probes.objects.letters import Letter, by_device, send
from torchmedic.probes.objects.process_memory import resident_bytes
from torchmedic.record import Probe, Recorder

_MOST_LOSSES = 4096
_MOST_LOOKS = 512
_MOST_LAYERS = 240
_BUDGET = 0.004  # of the time that the training takes
_FREE_LOOKS = 3


class Stretch:
    """The losses since the last point: their mean and their ends."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.total, self.count = 0.0, 0
        self.low, self.high = float("inf"), float("-inf")

    def add(self, value: float) -> None:
        self.total += value
        self.count += 1
        self.low, self.high = min(self.low, value), max(self.high, value)


@late_dataclass()
class Rhythm:
    """Every how many steps to look: doubled when there are too many points, or when looking costs too much."""

    most: int
    every: int = 1
    points: int = 0

    def is_due(self, step: int) -> bool:
        return step % self.every == 0 or step == 1

    def next_after(self, step: int) -> int:
        return step - step % self.every + self.every

    def slow_down(self) -> None:
        self.every *= 2
        self.points //= 2


@late_dataclass()
class _Layers:
    """The parameters that stand for the layers of one optimizer, and the norms of the last look, not yet read."""

    names: list[str] = field(default_factory=list)
    references: list[weakref.ref[torch.Tensor]] = field(default_factory=list)
    waiting: tuple[int, list[str], list[Letter]] | None = None


class Vitals(Probe):
    """Losses on the host are read at every step. Norms, and losses on a device, are asked for at some and read later.

    A norm is one fused launch over all layers; its answer is copied behind the training's back and read at the next
    look, so that the training does not wait for it. The time spent here is kept below a share of the training's.
    """

    name = "vitals"

    def __init__(self, modules: Modules) -> None:
        self._modules = modules

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._losses = Rhythm(_MOST_LOSSES)
        self._looks = Rhythm(_MOST_LOOKS)
        self._stretch = Stretch()
        self._rate: float | None = None
        self._layers_of: weakref.WeakKeyDictionary[Any, _Layers] = weakref.WeakKeyDictionary()
        self._outputs = Outputs(self)
        self._device_loss: torch.Tensor | None = None
        self._last_look = (0.0, 0)
        self._costs: deque[float] = deque(maxlen=_FREE_LOOKS)
        self._looked = 0

    def on_backward(self, roots: tuple[Any, ...]) -> None:
        loss = self.recorder.loss_on_card
        if loss is not None and self._is_looking() and not self.recorder.clock_is_held:
            self._device_loss = loss.clone()

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self.recorder.clock_is_held or not self._is_looking():
            return
        began = time.perf_counter()
        with torch.no_grad():
            self._look(optimizer)
        self._account(began)

    def on_step_done(self, optimizer: Any) -> None:
        """Between two looks this probe rests: the journal tells it of losses and rates."""
        if self.recorder.clock_is_held:
            return
        if self._is_looking():
            self._outputs.start()
        else:
            self.recorder.rest(self, self._looks.next_after(self.recorder.step + 1) - 1)

    def on_page(self, lines: Page) -> None:
        for line in lines:
            if isinstance(line, Update):
                if self._stretch.count and self._losses.is_due(line.step):
                    self._write_losses(line)
            elif type(line.loss) is float:
                self._stretch.add(line.loss)

    def remove(self) -> None:
        self._outputs.stop()

    def on_finish(self) -> None:
        for layers in list(self._layers_of.values()):
            self._read(layers)
        if self._stretch.count:
            self._write_stretch(self.recorder.step + 1)

    def _is_looking(self) -> bool:
        return self._looks.is_due(self.recorder.step + 1)

    def _look(self, optimizer: Any) -> None:
        layers = self._layers_of.get(optimizer)
        if layers is None:
            layers = self._layers_of[optimizer] = self._choose(optimizer)
        self._read(layers)
        alive = [
            (n, p)
            for n, reference in zip(layers.names, layers.references, strict=True)
            if (p := reference()) is not None
        ]
        heard = self._outputs.stop()
        learned = [(n, p, p.grad) for n, p in alive if p.grad is not None and _is_plain(p.grad)]
        names = [WEIGHT + n for n, _ in alive] + [GRADIENT + n for n, _, _ in learned]
        norms = _norms([p.detach() for _, p in alive]) + _norms([g.detach() for _, _, g in learned])
        names, norms = names + [ACTIVATION + path for path in heard], norms + list(heard.values())
        if self._device_loss is not None:
            names, norms = [*names, LOSS], [*norms, self._device_loss]
            self._device_loss = None
        groups = by_device(norms)
        in_order = [names[position] for positions in groups for position in positions]
        letters = [send([norms[position] for position in positions]) for positions in groups]
        layers.waiting = (self.recorder.step + 1, in_order, letters)
        self._note_memory()

    def _read(self, layers: _Layers) -> None:
        if layers.waiting is None:
            return
        step, names, letters = layers.waiting
        layers.waiting = None
        values = [value for letter in letters for value in letter.read()]
        for name, value in zip(names, values, strict=True):
            self.recorder.sample(name, value, step)
        self._looks.points += 1

    def _choose(self, optimizer: Any) -> _Layers:
        """One parameter for each module that has any: its largest."""
        ours = {id(p) for group in optimizer.param_groups for p in group["params"]}
        found: dict[str, torch.Tensor] = {}
        for root in self._modules.roots():
            for path, module in root.named_modules():
                own = [(n, p) for n, p in module.named_parameters(recurse=False) if id(p) in ours and _is_plain(p)]
                if own:
                    name, parameter = max(own, key=lambda pair: pair[1].numel())
                    found[f"{path}.{name}" if path else name] = parameter
                    self._outputs.know(module, path)
        names = list(found)
        stride = max(1, -(-len(names) // _MOST_LAYERS))
        names = names[::stride]
        self.recorder.observe(LayersWatched(step=self.recorder.step, names=tuple(names)))
        return _Layers(names=names, references=[weakref.ref(found[name]) for name in names])

    def _write_losses(self, line: Update) -> None:
        self._write_stretch(line.step)
        if line.rate is not None and line.rate != self._rate:
            self._rate = line.rate
            self.recorder.sample(RATE, line.rate, line.step)
        if self._losses.points >= self._losses.most:
            self._losses.slow_down()
            self.recorder.thin(LOSS, self._losses.every)
            self.recorder.thin(RATE, self._losses.every)

    def _write_stretch(self, step: int) -> None:
        stretch = self._stretch
        self.recorder.sample(LOSS, stretch.total / stretch.count, step)
        if stretch.count > 1:
            self.recorder.sample(LOSS_LOW, stretch.low, step)
            self.recorder.sample(LOSS_HIGH, stretch.high, step)
        stretch.clear()
        self._losses.points += 1

    def _note_memory(self) -> None:
        self.recorder.sample(HOST_MEMORY, float(resident_bytes()), self.recorder.step + 1)
        if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
            self.recorder.sample(DEVICE_MEMORY, float(torch.cuda.memory_allocated()), self.recorder.step + 1)

    def _account(self, began: float) -> None:
        """Look less often when there are too many looks, or when they take more than their share of the time."""
        now, step = time.perf_counter(), self.recorder.step
        (then, step_then), self._last_look = self._last_look, (now, step)
        self._looked += 1
        if self._looked == 1:
            return  # the first look chooses the layers, once
        self._costs.append(now - began + self._outputs.seconds)
        self._outputs.seconds = 0.0
        if step > step_then and self._looked > _FREE_LOOKS:
            # Steps since the last look: the first ones of a run take longer than those to come.
            share = _BUDGET * (now - then) / (step - step_then)
            # The middle one: a look that had to wait for a busy machine does not count against those to come.
            while statistics.median(self._costs) > share * self._looks.every:
                self._looks.every *= 2
        if self._looks.points >= self._looks.most:
            self._looks.slow_down()
            for kind in (WEIGHT, GRADIENT, ACTIVATION, HOST_MEMORY, DEVICE_MEMORY):
                self.recorder.thin(kind, self._looks.every)


def _is_plain(p: torch.Tensor) -> bool:
    """Not one whose norm would ask other ranks, or has no values."""
    if type(p) not in (torch.Tensor, torch.nn.Parameter):
        return False
    return p.layout == torch.strided and p.is_floating_point() and p.numel() > 0 and p.device.type != "meta"


def _norms(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    return list(torch._foreach_norm(tensors)) if tensors else []
