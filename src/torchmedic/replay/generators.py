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
from torchmedic.probes.sources import user_files

_FIRST_STEPS = 16
_LOOK_EVERY = 64


@late_dataclass()
class RandomStates:
    """The states of every generator that user code commonly draws from; None where nothing has to be put back."""

    torch_cpu: torch.Tensor
    python: Any = None
    numpy: Any = None
    cuda: list[Any] = field(default_factory=list)

    @classmethod
    def now(cls) -> RandomStates:
        return cls.with_host(random.getstate(), _numpy_state())

    @classmethod
    def with_host(cls, python: Any, numpy: Any) -> RandomStates:
        """The present states of torch's generators beside those of Python and NumPy."""
        return cls(torch.default_generator.get_state(), python, numpy, _cuda_states())

    def restore(self) -> None:
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

    def now(self) -> RandomStates:
        return RandomStates.with_host(self._python.now(), self._numpy.now())

    def of_torch(self) -> RandomStates:
        return RandomStates.with_host(None, None)

    def at_step_end(self) -> RandomStates:
        return RandomStates.with_host(self._python.at_step_end(), self._numpy.at_step_end())


class _DearState:
    """A generator on the host whose state takes longer to read than a small step can spare.

    What a step does not draw from need not be put back before it runs again. So a generator from which the first
    steps drew nothing is left alone, but for a look now and then.
    """

    def __init__(self, read: Callable[[], Any]) -> None:
        self._read = read
        self._steps = 0
        self._last: Any = None
        self._is_watched = True
        self._is_drawn_from = False

    def now(self) -> Any:
        return self._read() if self._is_watched else None

    def at_step_end(self) -> Any:
        if self._is_drawn_from:
            return self._read()
        self._steps += 1
        was_watched, self._is_watched = self._is_watched, self._is_due()
        if not (was_watched or self._is_watched):
            return None
        last, self._last = self._last, self._read()
        if was_watched and last is not None and last != self._last:
            self._is_drawn_from = self._is_watched = True
        return self._last if self._is_watched else None

    def _is_due(self) -> bool:
        return (self._steps < _FIRST_STEPS or self._steps % _LOOK_EVERY == 0) and _user_draws()


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
