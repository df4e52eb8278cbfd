"""The pulse: the loss of every step and, at a few steps, how far an update moves the weights."""

from __future__ import annotations

import inspect
import math
import weakref
from dataclasses import field
from types import CodeType
from typing import Any, NamedTuple

import torch

from torchmedic.facts import Location, TrainingCourse
from torchmedic.journal import Backward, Page, Update
from torchmedic.late import late_dataclass
from torchmedic.probes.course.rate_changes import RateChanges
from torchmedic.probes.events.optimizers import Optimizers, parameters_of
from torchmedic.probes.objects.letters import Letter, read_now, send
from torchmedic.probes.source.argument_lines import argument_made_at, setting_made_at
from torchmedic.record import Probe, Recorder, next_of

_SAMPLED = frozenset((0, 1, 2, 3, 4, 9, 19, 39, 79, 159, 319, 639, 1279, 2559))
_MOST_ELEMENTS = 2_000_000
_HEAD = 30
_PARTS = 40
_MOST_COURSES = 12
_MOST_RATES = 5000
_MOST_WAITING = 64  # losses before one update
_READ_AFTER = 64  # updates whose losses lie on a card: read together, when the training does not have to wait for them


class Series:
    """Means, and ends, of equal stretches of a growing series: when there are too many, neighbours are joined."""

    def __init__(self) -> None:
        self.parts: list[float] = []
        self.lows: list[float] = []
        self.highs: list[float] = []
        self._width = 1
        self._begin()

    def _begin(self) -> None:
        self._sum, self._count = 0.0, 0
        self._low, self._high = math.inf, -math.inf

    def add(self, value: float) -> None:
        self._sum += value
        self._count += 1
        self._low, self._high = min(self._low, value), max(self._high, value)
        if self._count == self._width:
            self.parts.append(self._sum / self._count)
            self.lows.append(self._low)
            self.highs.append(self._high)
            self._begin()
        if len(self.parts) >= 2 * _PARTS:
            self.parts = [(a + b) / 2 for a, b in zip(self.parts[::2], self.parts[1::2], strict=True)]
            self.lows = [min(a, b) for a, b in zip(self.lows[::2], self.lows[1::2], strict=True)]
            self.highs = [max(a, b) for a, b in zip(self.highs[::2], self.highs[1::2], strict=True)]
            self._width *= 2


class _Step(NamedTuple):
    """The losses that one update was made from, on a device until they are read, and its learning rate."""

    number: int
    rate: float | None
    losses: list[float | torch.Tensor]


@late_dataclass()
class _Course:
    steps: int = 0
    unread: list[_Step] = field(default_factory=list)
    sent: tuple[list[_Step], Letter] | None = None
    name: str = ""
    built: Any = None
    built_by: str = ""
    chosen: list[weakref.ref[torch.Tensor]] = field(default_factory=list)
    start: list[torch.Tensor] = field(default_factory=list)
    before: list[torch.Tensor] | None = None
    ratios: list[float] = field(default_factory=list)
    ratio_steps: list[int] = field(default_factory=list)
    moved: float | None = None
    moved_in: int = 0
    shrunk: float | None = None
    gradient: float | None = None
    rates: list[float] = field(default_factory=list)
    losses: int = 0
    head: list[float] = field(default_factory=list)
    series: Series = field(default_factory=Series)
    highest: float | None = None
    lines: set[tuple[CodeType, int]] = field(default_factory=set)
    changes: RateChanges = field(default_factory=RateChanges)
    decay: float | None = None
    default_rate: float | None = None

    def read(self) -> None:
        """Note the steps that were sent before, and send for those that have come since; on the host, note them."""
        sent, self.sent = self.sent, None
        if sent is not None:
            self._note(sent[0], sent[1].read())
        steps, self.unread = self.unread, []
        on_card = [loss for step in steps for loss in step.losses if isinstance(loss, torch.Tensor)]
        if on_card:
            self.sent = steps, send(on_card)
        else:
            self._note(steps, [])

    def _note(self, steps: list[_Step], arrived: list[float]) -> None:
        letters = iter(arrived)
        for step in steps:
            if step.rate is not None and self.rates[-1:] != [step.rate] and len(self.rates) < _MOST_RATES:
                self.rates.append(step.rate)
                self.changes.note_rate(step.rate, step.number)
            for loss in step.losses:
                value = next(letters) if isinstance(loss, torch.Tensor) else loss
                if math.isfinite(value):
                    self._note_loss(value)

    def _note_loss(self, value: float) -> None:
        self.losses += 1
        if len(self.head) < _HEAD:
            self.head.append(value)
        self.series.add(value)
        self.changes.note_loss(value)
        self.highest = value if self.highest is None else max(self.highest, value)

    def weights(self) -> list[torch.Tensor]:
        """The chosen parameters; none at all when one of them is gone."""
        alive = [p for p in (reference() for reference in self.chosen) if p is not None]
        return [p.detach() for p in alive] if len(alive) == len(self.chosen) else []

    def size_since_start(self) -> float | None:
        """The size of the weights relative to that at the start."""
        now, then = _norm(self.weights()), _norm(self.start)
        return now / then if now is not None and then else None

    def look_back(self, steps: int) -> None:
        """How far the weights have come, as long as they are there: a function that trains takes its model with it."""
        moved = self.change_since(self.start)
        if moved is not None:
            self.moved, self.moved_in, self.shrunk = moved, steps, self.size_since_start()

    def change_since(self, then: list[torch.Tensor]) -> float | None:
        """The distance from older values, relative to their size."""
        now, size = self.weights(), _norm(then)
        if len(now) != len(then) or not size:
            return None
        change = _norm([a - b for a, b in zip(now, then, strict=True) if a.shape == b.shape and a.device == b.device])
        return None if change is None else change / size


class Pulse(Probe):
    """Keeps one course per optimizer; a loss belongs to the optimizer that steps next."""

    name = "pulse"

    def __init__(self, optimizers: Optimizers) -> None:
        self._optimizers = optimizers

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._courses: list[_Course] = []
        self._course_of: dict[int, _Course] = {}
        self._waiting: list[float | torch.Tensor] = []
        self._line: tuple[CodeType, int] | None = None

    def on_optimizer(self, optimizer: Any) -> None:
        self._course_of.pop(id(optimizer), None)  # of one that is gone
        self.recorder.wake(self)

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if self.recorder.clock_is_held:
            return
        course = self._course_of.get(id(optimizer))
        if course is None:
            if len(self._courses) == _MOST_COURSES:
                return
            course = self._course_of[id(optimizer)] = self._begin(optimizer)
            self._courses.append(course)
        if self._optimizers.steps_of(optimizer) in _SAMPLED:
            with torch.no_grad():
                course.before = [p.clone() for p in course.weights()]
                course.gradient = _gradient(course.chosen) if course.gradient is None else course.gradient

    def on_step_done(self, optimizer: Any) -> None:
        """Between two looks this probe rests: the journal tells it of losses and rates."""
        course = self._course_of.get(id(optimizer))
        if self.recorder.clock_is_held:
            return
        if course is not None and course.before is not None:
            with torch.no_grad():
                self._measure(course, self._optimizers.steps_of(optimizer))
            course.before = None
        made = [self._optimizers.steps_of(each) for each in self._optimizers.alive()]
        if made:
            self.recorder.rest(self, self.recorder.step + min(next_of(_SAMPLED, steps - 1) - steps for steps in made))

    def on_page(self, lines: Page) -> None:
        for line in lines:
            if isinstance(line, Backward):
                if line.loss is not None and len(self._waiting) < _MOST_WAITING:
                    self._waiting.append(line.loss)
                if line.step < _HEAD:
                    self._line = line.at
            else:
                self._note_update(line)

    def _note_update(self, line: Update) -> None:
        course = self._course_of.get(line.optimizer)
        if course is None:
            return
        course.steps += 1
        course.unread.append(_Step(line.step, line.rate, self._waiting))
        if self._line is not None and len(course.lines) < 10:
            course.lines.add(self._line)
        if len(course.unread) >= _READ_AFTER or all(isinstance(loss, float) for loss in self._waiting):
            course.read()
        self._waiting = []

    def _begin(self, optimizer: Any) -> _Course:
        course = _Course(name=type(optimizer).__name__, built=self._optimizers.built_at(optimizer))
        course.built_by = self._optimizers.built_by(optimizer)
        decay = optimizer.param_groups[0].get("weight_decay") if optimizer.param_groups else None
        course.decay = float(decay) if isinstance(decay, (int, float)) else None
        course.default_rate = default_rate(optimizer)
        total = 0
        for p in telling_parameters(optimizer):
            if total + p.numel() <= _MOST_ELEMENTS:
                course.chosen.append(weakref.ref(p))
                total += p.numel()
        with torch.no_grad():
            course.start = [p.clone() for p in course.weights()]
        return course

    def _measure(self, course: _Course, steps: int) -> None:
        # Of weights that all began at zero, the first updates are everything there is, whatever the rate.
        ratio = course.change_since(course.before or []) if _norm(course.start) else None
        if ratio is not None:
            course.ratios.append(ratio)
            course.ratio_steps.append(steps - 1)
        course.look_back(steps)

    def on_finish(self) -> None:
        for course in self._courses:
            course.read()
            course.read()  # what the first one has only sent for
            with torch.no_grad():
                course.look_back(course.steps)
            self.recorder.observe(
                TrainingCourse(
                    step=self.recorder.step,
                    optimizer=course.name,
                    built=course.built,
                    steps=course.steps,
                    optimizers=len(self._courses),
                    losses=course.losses,
                    head=tuple(course.head),
                    parts=tuple(course.series.parts),
                    lows=tuple(course.series.lows),
                    highs=tuple(course.series.highs),
                    highest=course.highest,
                    ratios=tuple(course.ratios),
                    ratio_steps=tuple(course.ratio_steps),
                    moved=course.moved,
                    moved_in=course.moved_in,
                    first_lr=course.rates[0] if course.rates else None,
                    last_lr=course.rates[-1] if course.rates else None,
                    highest_lr=max(course.rates) if course.rates else None,
                    gradient=course.gradient,
                    backward_lines=len(course.lines),
                    decay=course.decay,
                    shrunk=course.shrunk,
                    default_lr=course.default_rate,
                    rate_made=argument_made_at(course.built, course.name, "lr", 1),
                    rate_set=_rate_set(course.built_by),
                )
            )
            for fact in course.changes.facts(course.name, course.built):
                self.recorder.observe(fact)


def _rate_set(package: str) -> Location | None:
    """The line that sets the rate of an optimizer which a framework builds."""
    return setting_made_at("TrainingArguments", "learning_rate") if package == "transformers" else None


def telling_parameters(optimizer: Any) -> list[torch.Tensor]:
    """The parameters that tell how far an update goes: matrices, and vectors where there is nothing else."""
    plain = [
        p for p in parameters_of(optimizer) if p.layout == torch.strided and p.is_floating_point() and p.requires_grad
    ]
    matrices = [p for p in plain if p.ndim > 1]
    return matrices or [p for p in plain if p.numel() > 1]


def default_rate(optimizer: Any) -> float | None:
    """The rate that this kind of optimizer takes when it is told none."""
    given = inspect.signature(type(optimizer).__init__).parameters.get("lr")
    rate = given.default if given is not None else None
    return float(rate) if isinstance(rate, (int, float)) else None


def _norm(tensors: list[torch.Tensor]) -> float | None:
    if not tensors:
        return None
    total = math.hypot(*read_now([t.detach().float().norm() for t in tensors]))
    return total if math.isfinite(total) else None


def _gradient(references: list[weakref.ref[torch.Tensor]]) -> float | None:
    found = (reference() for reference in references)
    gradients = [p.grad for p in found if p is not None and p.grad is not None]
    return _norm([g for g in gradients if g.layout == torch.strided])
