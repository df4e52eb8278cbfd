"""The Recorder: installs probes, keeps the step clock, passes events on, writes facts, restores everything."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import socket
import sys
import traceback
import weakref
from collections.abc import Callable, Iterable
from pathlib import Path
from types import CodeType
from typing import Any, ClassVar, ParamSpec, TypeVar

from torchmedic.facts import Observation, Skipped
from torchmedic.journal import Journal, Page
from torchmedic.settings import Settings
from torchmedic.store import Writer, update_info

P = ParamSpec("P")
T = TypeVar("T")

# What happens in every step, and what a resting probe is spared.
STEP_EVENTS = ("on_zero_grad", "on_backward", "on_backward_done", "on_step", "on_step_done")


class Probe:
    """An instrument. `install` may patch and hook as it likes as long as `remove` undoes all of it.

    The `on_…` methods are the events of a training step; a probe that raises in one is switched off.
    """

    name: ClassVar[str]

    def install(self, recorder: Recorder) -> None:
        self.recorder = recorder

    def remove(self) -> None:
        """Undo `install`."""

    def on_fetch(self, iterator: Any) -> Any:
        """A DataLoader is asked for a batch; an answer (a `Handed`) is handed out instead of a new one."""

    def on_batch(self, batch: Any, iterator: Any) -> None:
        """A DataLoader handed out a batch."""

    def on_end(self, iterator: Any) -> None:
        """A DataLoader was asked for a batch and has none left."""

    def on_forward(self, module: Any) -> None:
        """An outermost module is about to be called."""

    def on_backward(self, roots: tuple[Any, ...]) -> None:
        """`backward` is about to run from these tensors."""

    def on_backward_done(self, roots: tuple[Any, ...]) -> None:
        """`backward` has run."""

    def on_gradient_of(self, inputs: tuple[Any, ...]) -> None:
        """`torch.autograd.grad` is about to run for these inputs."""

    def on_gradient_done(self, outputs: tuple[Any, ...], gradients: tuple[Any, ...]) -> None:
        """`torch.autograd.grad` has given these gradients."""

    def on_optimizer(self, optimizer: Any) -> None:
        """An optimizer was built."""

    def on_parameter(self, parameter: Any) -> None:
        """A parameter was made after the first step, outside of a forward."""

    def on_mode(self, module: Any, training: bool) -> None:
        """`train()` or `eval()` was called on a whole model that is trained."""

    def on_any_mode(self, module: Any, training: bool) -> None:
        """`train()` or `eval()` was called on any module: a copy, a part, or a model that is trained."""

    def on_zero_grad(self, optimizer: Any) -> None:
        """Gradients are about to be cleared."""

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """`optimizer.step` is about to run; may return new `(args, kwargs)`."""

    def on_step_done(self, optimizer: Any) -> None:
        """`optimizer.step` has run."""

    def on_page(self, lines: Page) -> None:
        """Some more lines of the journal: what each backward pass and each update left behind."""

    def on_crash(self, error: BaseException) -> None:
        """The script died of this exception."""

    def on_finish(self) -> None:
        """The script is over."""


class Recorder:
    """The one object that all probes talk to."""

    def __init__(self, settings: Settings, writer: Writer) -> None:
        self.settings = settings
        self.folder = Path(settings.run_folder)
        self.run_file = settings.run_file
        self.rank = settings.rank
        self.world = 1
        self.was_forked = False
        self.step = 0
        self.backwards = 0
        self.loss: float | None = None  # of the present backward, where it can be read without waiting for a device
        self.loss_on_card: Any = None  # the same where it would have to be waited for
        self.backward_at: tuple[CodeType, int] | None = None  # the user's code that called it, and its instruction
        self.stack: dict[int, int] = {}  # the instruction of every frame below it, by `id(frame)`
        self.journal = Journal(functools.partial(self.emit, "on_page"))
        self.stopped_in = 0  # the sick step, counted from 1, in which we ended the run
        self.skipped = Skipped()
        self.clock_is_held = False
        self.is_ours = True
        self._writer = writer
        self._probes: list[Probe] = []
        self._stepped: set[int] = set()
        self._able: dict[str, tuple[tuple[Probe, Callable[..., Any]], ...]] = {}
        self._listening: dict[str, tuple[tuple[Probe, Callable[..., Any]], ...]] = {}
        self._resting: dict[Probe, int] = {}
        self._next_waking = sys.maxsize
        _recorders.add(self)

    def move_to(self, folder: Path, run_file: str, rank: int) -> None:
        """Begin anew in a forked process that turned out to be a rank, with a run file of its own."""
        self.folder, self.run_file, self.rank = folder, run_file, rank
        self.step = 0
        self.journal = Journal(functools.partial(self.emit, "on_page"))
        self._stepped.clear()
        self._writer = Writer(folder / run_file)
        self.is_ours = True
        self.was_forked = True

    def join(self, rank: int, world: int) -> None:
        """This process is one of several."""
        self.rank, self.world = rank, world
        changes = {"rank": rank, "world": world, "pid": os.getpid(), "host": socket.gethostname()}
        update_info(self.folder / self.run_file, **changes)

    def add(self, probe: Probe) -> None:
        """Install a probe; one that fails to install is left out with one line."""
        self._probes.append(probe)
        self._forget_listeners()
        try:
            if self.settings.break_probe == f"{probe.name}.install":
                raise RuntimeError("injected fault")
            probe.install(self)
        except Exception as error:  # noqa: BLE001
            self.switch_off(probe, error)

    def observe(self, observation: Observation) -> None:
        if self.is_ours:
            self._writer.write(observation)

    def sample(self, name: str, value: float, step: int | None = None) -> None:
        """Add a point to a series, at this step or at the one told."""
        if self.is_ours:
            self._writer.sample(name, self.step if step is None else step, value)

    def thin(self, name: str, every: int) -> None:
        """Of the series whose names begin so, keep what lies at multiples of some steps."""
        if self.is_ours:
            self._writer.thin(name, every)

    def flush(self) -> None:
        self._writer.flush()

    def emit(self, event: str, *arguments: Any) -> Any:
        """Tell the probes that listen to an event; the last answer that is not None is returned."""
        if not self.is_ours:
            return None
        answer = None
        listeners = self._listening.get(event)
        for probe, listen in self._listeners(event) if listeners is None else listeners:
            try:
                said = listen(*arguments)
            except Exception as error:  # noqa: BLE001
                self.switch_off(probe, error)
            else:
                answer = said if said is not None else answer
        return answer

    def _listeners(self, event: str) -> tuple[tuple[Probe, Callable[..., Any]], ...]:
        """Probes that do something at an event and are not resting; worked out when one begins to rest, or wakes."""
        able = self._able.get(event)
        if able is None:
            able = self._able[event] = self._probes_able_to(event)
        resting = self._resting if event in STEP_EVENTS else ()
        self._listening[event] = tuple(pair for pair in able if pair[0] not in resting or pair[1] is _fail)
        return self._listening[event]

    def _probes_able_to(self, event: str) -> tuple[tuple[Probe, Callable[..., Any]], ...]:
        """Probes that do something at an event: most hear of few."""
        broken, _, at = self.settings.break_probe.partition(".")
        found: list[tuple[Probe, Callable[..., Any]]] = []
        for probe in self._probes:
            if probe.name == broken and at == event:
                found.append((probe, _fail))
            elif getattr(type(probe), event) is not getattr(Probe, event):
                found.append((probe, getattr(probe, event)))
        return tuple(found)

    def _forget_listeners(self) -> None:
        self._listening.clear()
        self._able.clear()

    def rest(self, probe: Probe, until: int = sys.maxsize) -> None:
        """Spare a probe the events of the steps before `until`: most exams are over after a few steps."""
        if until > self.step and self._resting.get(probe) != until:
            self._resting[probe] = until
            self._next_waking = min(self._resting.values())
            self._forget_step_listeners()

    def wake(self, probe: Probe) -> None:
        """Let a resting probe hear of every step again."""
        if self._resting.pop(probe, None) is not None:
            self._next_waking = min(self._resting.values(), default=sys.maxsize)
            self._forget_step_listeners()

    def _forget_step_listeners(self) -> None:
        for event in STEP_EVENTS:
            self._listening.pop(event, None)

    def begin_cycle(self) -> None:
        """Whichever optimizer steps next makes a new step: a new one was built."""
        self._stepped.clear()

    def count_step(self, optimizer: Any) -> None:
        """Advance the clock: several optimizers that step in turn make one step together."""
        if self.clock_is_held:
            return
        if id(optimizer) in self._stepped:
            self._stepped.clear()
        if not self._stepped:
            self.step += 1
            if self.is_ours:
                self._writer.count(self.step)
            if self.step >= self._next_waking:
                for probe in [p for p, until in self._resting.items() if until <= self.step]:
                    self.wake(probe)
        self._stepped.add(id(optimizer))

    def step_of(self, optimizer: Any) -> int:
        """The number of the step that an optimizer is making, maybe together with others that have stepped already."""
        return self.step + (not self._stepped or id(optimizer) in self._stepped)

    def switch_off(self, probe: Probe, error: BaseException) -> None:
        """Remove a probe that failed, with one line: our faults never take the user's run down."""
        if _comes_from_a_signal(error):
            raise error  # a handler of the script's or of torch's spoke while we were at work: it means the script
        if probe in self._probes:
            self._probes.remove(probe)
            self._resting.pop(probe, None)
            self._forget_listeners()
        # What was not installed cannot be removed: the first error is the one worth a line.
        with contextlib.suppress(Exception):
            probe.remove()
        say(f"probe `{probe.name}` switched off ({type(error).__name__}: {error})")

    def retire(self, names: Iterable[str]) -> None:
        """Take probes out that have nothing to look at in this run."""
        for probe in [probe for probe in self._probes if probe.name in names]:
            self._probes.remove(probe)
            self._resting.pop(probe, None)
            self._forget_listeners()
            with contextlib.suppress(Exception):
                probe.remove()

    def crash(self, error: BaseException) -> None:
        """Tell the probes what the script died of."""
        self.journal.turn()
        self.emit("on_crash", error)

    def finish(self) -> None:
        """Let probes write their last facts, then take every one out."""
        self.journal.turn()
        self.emit("on_finish")
        for probe in reversed(tuple(self._probes)):
            try:
                probe.remove()
            except Exception as error:  # noqa: BLE001
                say(f"probe `{probe.name}` could not be removed ({type(error).__name__}: {error})")
        self._probes.clear()
        self._forget_listeners()
        if self.is_ours:
            self._writer.close()


def name_script_again() -> None:
    """Tell `__main__` its file: Python takes it away when the script is over, and the last questions need it."""
    main = sys.modules.get("__main__")
    path = getattr(getattr(main, "__loader__", None), "path", None)
    if main is not None and path is not None and getattr(main, "__file__", None) is None:
        main.__file__ = path


_SIGNALS = ("SIGCHLD", "SIGALRM", "SIGUSR1", "SIGUSR2", "SIGHUP", "SIGINT", "SIGTERM")

_recorders: weakref.WeakSet[Recorder] = weakref.WeakSet()


def _disown() -> None:
    """In a forked child nothing may be recorded."""
    for recorder in _recorders:
        recorder.is_ours = False


os.register_at_fork(after_in_child=_disown)


def _comes_from_a_signal(error: BaseException) -> bool:
    """Whether a handler of a signal raised it, which may happen between any two instructions."""
    handlers = [signal.getsignal(getattr(signal, name)) for name in _SIGNALS if hasattr(signal, name)]
    codes = {getattr(handler, "__code__", None) for handler in handlers} - {None}
    return any(frame.f_code in codes for frame, _ in traceback.walk_tb(error.__traceback__))


def _fail(*_: Any) -> None:
    raise RuntimeError("injected fault")


def next_of(steps: Iterable[int], now: int) -> int:
    """The first of some steps that is still to come; past the end of every run where there is none."""
    return min((step for step in steps if step > now), default=sys.maxsize)


def shielded(probe: Probe) -> Callable[[Callable[P, T]], Callable[P, T | None]]:
    """Make a callback of a probe harmless: a fault inside switches the probe off."""

    def wrap(function: Callable[P, T]) -> Callable[P, T | None]:
        @functools.wraps(function)
        def safe(*args: P.args, **kwargs: P.kwargs) -> T | None:
            try:
                return function(*args, **kwargs)
            except Exception as error:  # noqa: BLE001
                probe.recorder.switch_off(probe, error)
                return None

        return safe

    return wrap


def say(line: str) -> None:
    """One whole line to standard error, through tqdm when the script draws bars."""
    text = f"torchmedic: {line}"
    tqdm = sys.modules.get("tqdm")
    try:
        if tqdm is not None and getattr(tqdm.tqdm, "_instances", None):
            tqdm.tqdm.write(text, file=sys.__stderr__)
        else:
            print(text, file=sys.__stderr__, flush=True)
    except Exception:  # noqa: BLE001 - a closed standard error is no reason to fail
        return
