"""The exam of learning rates: who steps a scheduler how often, and what becomes of the rate."""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import sys
import weakref
from dataclasses import field
from types import CodeType
from typing import Any

from torch.optim import lr_scheduler

from torchmedic.facts import LearningRates, Location, SchedulerSeen
from torchmedic.journal import Page, Update
from torchmedic.late import late_dataclass
from torchmedic.probes.events.optimizers import Optimizers
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.exam.horizons import reach_of
from torchmedic.probes.source.expressions import parsed
from torchmedic.probes.source.frames import (
    is_user_file,
    location,
    location_of,
    outward,
    package_below,
    user_frame,
    user_location,
)
from torchmedic.record import Probe, Recorder, shielded

SETTINGS = ("step_size", "gamma", "T_max", "eta_min", "total_steps", "patience", "factor", "total_iters", "T_0")
_SMALL = 1e-2
_MOST_METRICS = 200


@late_dataclass()
class _Schedule:
    """One scheduler as it was used."""

    reference: weakref.ref[Any]
    type: str
    built: Location | None
    optimizer: int
    base: float
    settings: dict[str, float] = field(default_factory=dict)
    mode: str = ""
    stepped: Location | None = None
    steps: int = 0
    on_new_step: int = 0
    before_optimizer: int = 0
    last_seen_step: int = -1
    last_lr: float = 0.0
    largest: float = 0.0
    small_from: int | None = None
    direction: int = 0
    turns: int = 0
    cuts: int = 0
    rises: int = 0
    metrics: list[float] = field(default_factory=list)
    metric_text: str = ""
    nested: bool = False
    optimizer_built: Location | None = None
    factor_made: Location | None = None
    floored: Location | None = None
    rates: tuple[float, ...] = ()
    stepped_by: str = ""
    holder: weakref.ref[Any] | None = None
    begun: int = 0
    rebuilt: int = 0
    length: int = 0
    peak: int = 0


@late_dataclass()
class _Rate:
    """The learning rates an optimizer stepped with."""

    type: str
    built: Location | None
    steps: int = 0
    zero: int = 0
    zero_run: int = 0
    zero_first: int = 0
    highest: float = 0.0

    def note(self, highest: float) -> None:
        self.steps += 1
        if highest:
            self.highest = max(self.highest, highest)
            self.zero_run = 0
        else:
            self.zero += 1
            self.zero_run += 1
            self.zero_first += self.zero == self.steps


class ScheduleExam(Probe):
    """Wraps the `step` of every scheduler class of torch."""

    name = "schedule-exam"

    def __init__(self, optimizers: Optimizers) -> None:
        self._optimizers = optimizers

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._schedules: dict[int, _Schedule] = {}
        self._over: list[_Schedule] = []
        self._rates: dict[int, _Rate] = {}
        self._past_rates: list[_Rate] = []  # of optimizers that are gone, whose `id` another has now
        self._epoch_steps: list[int] = []
        self._iterators: list[weakref.ref[Any]] = []
        self._depth = 0
        for kind in vars(lr_scheduler).values():
            if isinstance(kind, type) and hasattr(kind, "get_last_lr") and "step" in vars(kind):
                self._watch_step(kind)
        self._watch_plateau()

    def remove(self) -> None:
        self._patches.restore()

    def of(self, optimizer: Any) -> list[tuple[Any, Location | None]]:
        """The living schedulers of an optimizer, with the lines that built them."""
        known = ((seen.reference(), seen) for seen in self._schedules.values())
        return [(s, seen.built) for s, seen in known if s is not None and seen.optimizer == id(optimizer)]

    def kinds(self) -> set[str]:
        """The kinds of all schedulers that were built."""
        return {seen.type for seen in (*self._over, *self._schedules.values())}

    def _watch_step(self, kind: type) -> None:
        original = vars(kind)["step"]
        note = shielded(self)(self._stepped)

        @functools.wraps(original)
        def step(scheduler: Any, *args: Any, **kwargs: Any) -> Any:
            self._depth += 1
            try:
                with frame_hidden:
                    result = original(scheduler, *args, **kwargs)
            finally:
                self._depth -= 1
            if self.recorder.is_ours:
                note(scheduler, args, kwargs)
            return result

        self._patches.replace(kind, "step", step)

    def _watch_plateau(self) -> None:
        """The others step once while they are built; this one is first heard of when it is used."""
        original = lr_scheduler.ReduceLROnPlateau.__init__
        note = shielded(self)(self._built)

        @functools.wraps(original)
        def init(scheduler: Any, optimizer: Any, *args: Any, **kwargs: Any) -> None:
            with frame_hidden:
                original(scheduler, optimizer, *args, **kwargs)
            if self.recorder.is_ours:
                note(scheduler, optimizer)

        self._patches.replace(lr_scheduler.ReduceLROnPlateau, "__init__", init)

    def _built(self, scheduler: Any, optimizer: Any) -> None:
        inner = _unwrapped(optimizer)
        self._schedules[id(scheduler)] = self._begin(scheduler, inner, float(inner.param_groups[0]["lr"]))

    def _stepped(self, scheduler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        optimizer = _unwrapped(getattr(scheduler, "optimizer", None))
        if optimizer is None or not getattr(optimizer, "param_groups", None):
            return
        lr = float(optimizer.param_groups[0]["lr"])
        frame = user_frame()
        known = self._schedules.get(id(scheduler))
        if known is None or known.reference() is not scheduler:
            self._over += [self._schedules.pop(id(scheduler))] if known is not None else []
            known = self._schedules[id(scheduler)] = self._begin(scheduler, optimizer, lr)
            if _in_constructor(scheduler):
                return
        known.nested |= self._depth > 0
        self._count(known, lr)
        if known.stepped is None and frame is not None:
            known.stepped = location_of(frame)
            known.stepped_by = package_below(frame, through="step")
            known.metric_text = _argument(frame) or _monitored()
            known.settings = _settings(scheduler)
            known.factor_made = _factor_line(scheduler)
            known.floored = _floored_line(scheduler)
            known.mode = str(getattr(scheduler, "mode", ""))
            known.length, known.peak = reach_of(scheduler)
        if isinstance(scheduler, lr_scheduler.ReduceLROnPlateau) and len(known.metrics) < _MOST_METRICS:
            known.metrics.append(float(args[0] if args else kwargs["metrics"]))

    def _begin(self, scheduler: Any, optimizer: Any, lr: float) -> _Schedule:
        rates = tuple(float(group.get("initial_lr", group["lr"])) for group in optimizer.param_groups)
        built = user_location()
        return _Schedule(
            reference=weakref.ref(scheduler),
            type=type(scheduler).__name__,
            built=built,
            optimizer=id(optimizer),
            base=rates[0],
            last_lr=lr,
            largest=lr,
            optimizer_built=self._optimizers.built_at(optimizer),
            rates=rates,
            holder=weakref.ref(optimizer),
            begun=self.recorder.step,
            rebuilt=self._built_before(optimizer, built),
        )

    def _built_before(self, optimizer: Any, built: Location | None) -> int:
        """How many schedulers the same line has built for an optimizer that were used in the meantime."""
        earlier = (seen for seen in (*self._over, *self._schedules.values()) if seen.steps and seen.built == built)
        now = self.recorder.step
        return sum(s.holder is not None and s.holder() is optimizer and s.begun < now for s in earlier)

    def _count(self, known: _Schedule, lr: float) -> None:
        step = self.recorder.step
        known.steps += 1
        known.before_optimizer += step == 0
        known.on_new_step += step > known.last_seen_step
        known.last_seen_step = step
        known.largest = max(known.largest, lr)
        if lr < _SMALL * max(known.base, known.largest):
            known.small_from = step if known.small_from is None else known.small_from
        else:
            known.small_from = None
        direction = (lr > known.last_lr) - (lr < known.last_lr)
        if direction and known.direction and direction != known.direction:
            known.turns += 1
        known.cuts += direction < 0
        known.rises += direction > 0
        known.direction = direction or known.direction
        known.last_lr = lr

    def on_batch(self, batch: Any, iterator: Any) -> None:
        """A new iterator is a new epoch of some loader; loaders that no step follows are not counted."""
        if not any(known() is iterator for known in self._iterators):
            self._iterators = [weakref.ref(iterator), *self._iterators[:3]]
            self._epoch_steps.append(self.recorder.step)

    def on_optimizer(self, optimizer: Any) -> None:
        past = self._rates.pop(id(optimizer), None)
        self._past_rates += [past] if past is not None else []
        self._rates[id(optimizer)] = _Rate(type(optimizer).__name__, self._optimizers.built_at(optimizer))

    def on_page(self, lines: Page) -> None:
        for line in lines:
            if isinstance(line, Update) and line.optimizer in self._rates:
                # Of a rate that lies on a device nothing is known.
                self._rates[line.optimizer].note(1.0 if line.highest_rate is None else line.highest_rate)

    def on_finish(self) -> None:
        for seen in (*self._over, *self._schedules.values()):
            self.recorder.observe(self._fact(seen))
        by_optimizer = {s.optimizer: s for s in self._schedules.values()}
        known = [(None, rate) for rate in self._past_rates] + [*self._rates.items()]
        for key, rate in known:
            schedule = by_optimizer.get(key) if key is not None else None
            if not rate.steps:
                continue
            self.recorder.observe(
                LearningRates(
                    optimizer=rate.type,
                    built=rate.built,
                    scheduler=schedule.type if schedule else "",
                    scheduler_built=schedule.built if schedule else None,
                    steps=rate.steps,
                    given=schedule.base if schedule else None,
                    zero_steps=rate.zero,
                    zero_at_start=rate.zero_first,
                    zero_at_end=rate.zero_run,
                    floored=schedule.floored if schedule else None,
                    schedule_steps=schedule.on_new_step if schedule else 0,
                    highest=rate.highest,
                )
            )

    def _fact(self, seen: _Schedule) -> SchedulerSeen:
        rate = self._rates.get(seen.optimizer)
        others = [other for key, other in self._rates.items() if key != seen.optimizer]
        busiest = max(others, key=lambda other: other.steps, default=None)
        begun = [*self._epoch_steps, self.recorder.step]
        epochs = [after - before for before, after in itertools.pairwise(begun) if after > before]
        return SchedulerSeen(
            type=seen.type,
            settings=seen.settings,
            built=seen.built,
            stepped=seen.stepped,
            steps=seen.steps,
            optimizer_steps=rate.steps if rate else 0,
            other_steps=busiest.steps if busiest else 0,
            optimizer_built=seen.optimizer_built,
            other_built=busiest.built if busiest else None,
            per_optimizer_step=seen.on_new_step,
            before_optimizer=seen.before_optimizer,
            epochs=len(epochs),
            steps_per_epoch=max(epochs, default=0),
            first_lr=seen.base,
            last_lr=seen.last_lr,
            largest_lr=seen.largest,
            small_from=seen.small_from,
            turns=seen.turns,
            metrics=tuple(seen.metrics),
            metric_text=seen.metric_text,
            mode=seen.mode,
            cuts=seen.cuts,
            rises=seen.rises,
            nested=seen.nested,
            factor_made=seen.factor_made,
            rates=seen.rates,
            stepped_by=seen.stepped_by,
            rebuilt=seen.rebuilt,
            length=seen.length,
            peak=seen.peak,
        )


def _unwrapped(optimizer: Any) -> Any:
    """The optimizer that steps, inside the shells that Accelerate and Lightning put around it."""
    for _ in range(3):
        inner = getattr(optimizer, "optimizer", None) or getattr(optimizer, "_optimizer", None)
        if inner is None or not hasattr(inner, "param_groups"):
            break
        optimizer = inner
    return optimizer


def _settings(scheduler: Any) -> dict[str, float]:
    return {n: float(v) for n in SETTINGS if isinstance(v := getattr(scheduler, n, None), (int, float))}


def _factor_code(scheduler: Any) -> CodeType | None:
    """The user's function of a `LambdaLR` or `MultiplicativeLR`."""
    functions = getattr(scheduler, "lr_lambdas", None) or ()
    code = getattr(functions[0], "__code__", None) if functions else None
    return code if code is not None and is_user_file(code.co_filename) else None


def _floored_line(scheduler: Any) -> Location | None:
    """The line of that function with a division that drops the rest."""
    code = _factor_code(scheduler)
    tree = parsed(code.co_filename) if code is not None else None
    lines = {line for _, _, line in code.co_lines()} if code is not None else set()
    floors = [
        n for n in (ast.walk(tree) if tree else ()) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.FloorDiv)
    ]
    found = [node.lineno for node in floors if node.lineno in lines]
    return location(code.co_filename, found[0], code.co_qualname) if code is not None and len(found) == 1 else None


def _factor_line(scheduler: Any) -> Location | None:
    """The line on which the user's function of a scheduler returns its factor."""
    code = _factor_code(scheduler)
    if code is None:
        return None
    lines = [line for _, _, line in code.co_lines() if line is not None]
    return location(code.co_filename, max(lines, default=code.co_firstlineno), code.co_qualname)


def _in_constructor(scheduler: Any) -> bool:
    """Schedulers step once while they are built."""
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_code.co_name == "__init__" and frame.f_locals.get("self") is scheduler:
            return True
        frame = frame.f_back
    return False


def _monitored() -> str:
    """The name of the metric that Lightning steps a scheduler with: its loop calls it `monitor_key`."""
    named = (frame.f_locals.get("monitor_key") for frame in outward(sys._getframe(1)))
    return next((name for name in named if isinstance(name, str)), "")


def _argument(frame: Any) -> str:
    """The text of the first argument of a call of `step` on this line."""
    tree = parsed(frame.f_code.co_filename)
    for node in ast.walk(tree) if tree else ():
        here = isinstance(node, ast.Call) and node.lineno <= frame.f_lineno <= (node.end_lineno or 0)
        if here and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "step":
            return ast.unparse(node.args[0]) if node.args else ""
    return ""
