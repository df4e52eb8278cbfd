"""The states of random generators, so that a step that runs again draws the same numbers."""

from __future__ import annotations

import functools
import linecache
import random
import sys
from collections.abc import Callable
from dataclasses import field
from typing import Any

import torch

from torchmedic.late import late_dataclass
from torchmedic.probes.source.sources import user_files

_FIRST_STEPS = 16
_LOOK_EVERY = 64


@late_dataclass()
class RandomStates:
    """The states of every generator that user code commonly draws from; None where nothing has to be put back."""

    torch_cpu: torch.Tensor | None = None
    python: Any = None
    numpy: Any = None
    cuda: list[Any] = field(default_factory=list)

    @classmethod
    def now(cls) -> RandomStates:
        return cls(_torch_state(), random.getstate(), _numpy_state(), _cuda_states())

    def restore(self) -> None:
        if self.torch_cpu is not None:
            torch.set_rng_state(self.torch_cpu)
        if self.python is not None:
            random.setstate(self.python)
        if self.numpy is not None:
            _set_numpy_state(self.numpy)
        for generator, state in zip(torch.cuda.default_generators, self.cuda, strict=False):
            _set_counter(generator, state)


class StepStates:
    """Random states at the borders of steps, without those that would have to be put back for nothing."""

    def __init__(self) -> None:
        self._python, self._numpy = _DearState(random.getstate), _DearState(_numpy_state)
        # Where a card does the work its own generator is drawn from; the host's is as dear as the others then.
        self._torch = _DearState(_torch_state, is_for_all=True)
        self._steps = 0
        self._clearings = 0
        self._draws_before_clearing = False

    def now(self) -> RandomStates:
        cards = _cuda_states()
        of_torch = self._torch.now() if cards else _torch_state()
        return RandomStates(of_torch, self._python.now(), self._numpy.now(), cards)

    def is_time_at_zero_grad(self) -> bool:
        """Most loops draw nothing before they clear gradients: then only a look now and then is worth its time."""
        self._clearings += 1
        return self._draws_before_clearing or _is_time(self._clearings)

    def at_zero_grad(self, since: RandomStates) -> RandomStates | None:
        """Torch's states where gradients are cleared; None where they are those at the beginning of the step."""
        now = RandomStates(_torch_state(), cuda=_cuda_states())
        same_on_cards = len(now.cuda) == len(since.cuda) and all(map(_is_same, now.cuda, since.cuda))
        if same_on_cards and (since.torch_cpu is None or _is_same(now.torch_cpu, since.torch_cpu)):
            return None
        self._draws_before_clearing = True
        return now

    def at_step_end(self) -> RandomStates:
        self._steps += 1
        cards = _cuda_states()
        of_torch = self._torch.at_step_end(self._steps) if cards else _torch_state()
        python, numpy = self._python.at_step_end(self._steps), self._numpy.at_step_end(self._steps)
        return RandomStates(of_torch, python, numpy, cards)


class _DearState:
    """A generator on the host whose state takes longer to read than a small step can spare.

    What a step does not draw from need not be put back before it runs again. So a generator from which the first
    steps drew nothing is left alone, but for a look now and then.
    """

    def __init__(self, read: Callable[[], Any], is_for_all: bool = False) -> None:
        self._read = read
        self._is_for_all = is_for_all
        self._last: Any = None
        self.is_watched = True
        self._is_drawn_from = False

    def now(self) -> Any:
        return self._read() if self.is_watched else None

    def at_step_end(self, steps: int) -> Any:
        if not (self.is_watched or _is_time(steps)):
            return None
        if self._is_drawn_from:
            return self._read()
        was_watched, self.is_watched = self.is_watched, _is_time(steps) and (self._is_for_all or _user_draws())
        if not (was_watched or self.is_watched):
            return None
        last, self._last = self._last, self._read()
        if was_watched and last is not None and not _is_same(last, self._last):
            self._is_drawn_from = self.is_watched = True
        return self._last if self.is_watched else None


def _is_time(steps: int) -> bool:
    return steps < _FIRST_STEPS or steps % _LOOK_EVERY == 0


def _torch_state() -> torch.Tensor:
    return torch.default_generator.get_state()


def _numpy_state() -> Any:
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is None:
        return None
    name, keys, *rest = numpy_random.get_state()
    return name, keys.tobytes(), *rest


def _set_numpy_state(state: Any) -> None:
    numpy = sys.modules["numpy"]
    name, keys, *rest = state
    numpy.random.set_state((name, numpy.frombuffer(keys, dtype=numpy.uint32), *rest))


def _cuda_states() -> list[Any]:
    if not torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        return []
    return [_counter(generator) for generator in torch.cuda.default_generators]


def _counter(generator: torch.Generator) -> Any:
    """A generator on a card only counts: two numbers say the same as its state, and cost no tensor in every step."""
    if not hasattr(generator, "get_offset"):  # torch before 2.9
        return generator.get_state()
    return generator.initial_seed(), generator.get_offset()


def _is_same(one: Any, other: Any) -> bool:
    return torch.equal(one, other) if isinstance(one, torch.Tensor) else bool(one == other)


def _set_counter(generator: torch.Generator, state: Any) -> None:
    if isinstance(state, torch.Tensor):
        generator.set_state(state)
    else:
        generator.manual_seed(state[0])
        generator.set_offset(state[1])


@functools.cache
def _user_draws() -> bool:
    """Whether a source of the user's, as it stands when training begins, speaks of anything random at all."""
    return any("random" in "".join(linecache.getlines(file)) for file in user_files())
