"""The sources of random numbers that a data set can draw from, and digests of their states."""

from __future__ import annotations

import hashlib
import pickle
import random
import sys
from collections.abc import Iterator
from typing import Any

import torch

_DEPTH = 3
_MOST_ITEMS = 50


def digests(dataset: Any) -> dict[str, str]:
    """The state of every source in sight of a data set, by the name under which the user knows it."""
    return {name: _digest(state) for name, state in _states(dataset)}


def _digest(state: Any) -> str:
    return hashlib.blake2b(pickle.dumps(state), digest_size=12).hexdigest()


def _states(dataset: Any) -> Iterator[tuple[str, Any]]:
    yield "torch", torch.get_rng_state().numpy().tobytes()
    yield "random", random.getstate()
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        yield "numpy.random", numpy.random.get_state(legacy=True)
    for name, generator in held_generators(dataset):
        yield name, state_of(generator)


def held_generators(dataset: Any) -> Iterator[tuple[str, Any]]:
    """Generators that a data set (or what it wraps) keeps as attributes, and those among the names of its module."""
    yield from _kept(dataset, "self", _DEPTH)
    scope = getattr(getattr(type(dataset), "__getitem__", None), "__globals__", {})
    yield from ((name, thing) for name, thing in list(scope.items()) if is_generator(thing))


def _kept(thing: Any, path: str, depth: int) -> Iterator[tuple[str, Any]]:
    if is_generator(thing):
        yield path, thing
    elif depth and isinstance(thing, (list, tuple)):
        for number, item in enumerate(thing[:_MOST_ITEMS]):
            yield from _kept(item, f"{path}[{number}]", depth - 1)
    elif depth and not isinstance(thing, (torch.Tensor, type)):
        for name, item in list(getattr(thing, "__dict__", {}).items())[:_MOST_ITEMS]:
            yield from _kept(item, f"{path}.{name}", depth - 1)


def is_generator(thing: Any) -> bool:
    if isinstance(thing, (random.Random, torch.Generator)):
        return True
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(thing, (numpy.random.Generator, numpy.random.RandomState))


def state_of(generator: Any) -> Any:
    if isinstance(generator, random.Random):
        return generator.getstate()
    if isinstance(generator, torch.Generator):
        return generator.get_state().numpy().tobytes()
    return generator.bit_generator.state if hasattr(generator, "bit_generator") else generator.get_state()
