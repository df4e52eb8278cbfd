"""What a saved object or a variable holds: tensors in containers, weights, graphs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from torchmedic.checkups.data.arrays import array_facts, as_numpy
from torchmedic.checkups.data.graphs import graph_facts, is_graph
from torchmedic.checkups.data.options import Listing, unlisted
from torchmedic.checkups.data.samples import are_samples, sample_facts, samples_of
from torchmedic.facts import Observation

_MOST_PARTS = 20_000


def structure_facts(source: str, thing: Any, listing: Listing = unlisted) -> Iterator[Observation]:
    """Facts about every array and graph inside an object; a state dict's tensors are weights."""
    for name, part, purpose in itertools.islice(_parts(thing, "", _purpose(thing)), _MOST_PARTS):
        if isinstance(part, list | tuple):
            yield from sample_facts(source, samples_of(part, None), listing, name)
        elif is_graph(part):
            yield from graph_facts(source, name, part, listing)
        else:
            array = part if isinstance(part, np.ndarray) else as_numpy(part)
            yield from array_facts(source, name or "tensor", array, purpose, listing)


def _purpose(thing: Any) -> str | None:
    """weight for a mapping that names its tensors as modules do."""
    if not isinstance(thing, Mapping):
        return None
    inner = [thing, *(value for value in thing.values() if isinstance(value, Mapping))]
    return "weight" if any(_is_state(one) for one in inner) else None


def _is_state(thing: Mapping[Any, Any]) -> bool:
    names = [name for name, value in thing.items() if isinstance(name, str) and hasattr(value, "detach")]
    return (
        bool(names) and sum(name.endswith((".weight", ".bias", "weight", "bias")) for name in names) >= len(names) / 2
    )


def _parts(thing: Any, name: str, purpose: str | None) -> Iterator[tuple[str, Any, str | None]]:
    """Arrays, tensors, graphs and lists of samples inside containers, each with its path."""
    if is_graph(thing) or isinstance(thing, np.ndarray) or _is_tensor(thing):
        yield name, thing, purpose
    elif isinstance(thing, Mapping):
        for key, value in thing.items():
            yield from _parts(value, f"{name}.{key}" if name else str(key), purpose)
    elif isinstance(thing, list | tuple) and purpose != "weight" and are_samples(thing):
        yield name, thing, purpose
    elif isinstance(thing, list | tuple):
        for i, value in enumerate(thing):
            yield from _parts(value, f"{name}[{i}]", purpose)


def _is_tensor(thing: Any) -> bool:
    return hasattr(thing, "detach") and hasattr(thing, "layout") and hasattr(thing, "dtype")
