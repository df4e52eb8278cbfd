"""Compares the samples of one batch, field by field, as `default_collate` would walk them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from torchmedic.facts import SampleField
from torchmedic.probes.objects.values import type_name

_DEEPEST = 5
_WIDEST = 32
_MOST_FIELDS = 6


def troubled_fields(samples: Sequence[Any]) -> tuple[SampleField, ...]:
    """The fields that keep these samples from becoming a batch."""
    flat = [dict(_leaves(sample, "", 0)) for sample in samples]
    paths = list(dict.fromkeys(path for leaves in flat for path in leaves))
    found: list[SampleField] = []
    for path in paths:
        things = [leaves.get(path, _MISSING) for leaves in flat]
        problem = _problem(things)
        if problem:
            found.append(SampleField(path=path, problem=problem, forms=tuple(map(_form, things))))
    return tuple(found[:_MOST_FIELDS])


def leaves_of(sample: Any) -> list[tuple[str, Any]]:
    """The parts of a sample that a batch is made of, each with the path that leads to it."""
    return [(path, leaf) for path, leaf in _leaves(sample, "", 0) if not isinstance(leaf, _List)]


class _Missing:
    """Stands for a field that a sample lacks."""


_MISSING = _Missing()


class _List:
    """A list or tuple of which only the length matters here."""

    def __init__(self, kind: str, length: int) -> None:
        self.kind = kind
        self.length = length


def _leaves(thing: Any, path: str, depth: int) -> Iterator[tuple[str, Any]]:
    if isinstance(thing, Mapping) and depth < _DEEPEST:
        for key in list(thing)[:_WIDEST]:
            yield from _leaves(thing[key], f"{path}[{key!r}]", depth + 1)
    elif isinstance(thing, tuple) and hasattr(thing, "_fields") and depth < _DEEPEST:
        for name, item in zip(thing._fields, thing, strict=True):
            yield from _leaves(item, f"{path}.{name}", depth + 1)
    elif isinstance(thing, (list, tuple)) and depth < _DEEPEST:
        if depth or isinstance(thing, list):
            yield f"len(sample{path})" if path else "len(sample)", _List(type(thing).__name__, len(thing))
        for i, item in enumerate(thing[:_WIDEST]):
            yield from _leaves(item, f"{path}[{i}]", depth + 1)
    else:
        yield path or "sample", thing


def _problem(things: list[Any]) -> str:
    present = [thing for thing in things if thing is not _MISSING]
    checks: tuple[tuple[str, Callable[[], bool]], ...] = (
        ("none", lambda: any(thing is None for thing in present)),
        ("class", lambda: any(not _can_be_collated(thing) for thing in present)),
        ("missing", lambda: len(present) < len(things) and not _is_list_item(things)),
        ("length", lambda: len({t.length for t in present if isinstance(t, _List)}) > 1),
        ("type", lambda: len({isinstance(t, _List) for t in present}) > 1),
        ("shape", lambda: len({_shape(t) for t in present}) > 1),
    )
    return next((name for name, holds in checks if holds()), "")


def _is_list_item(things: list[Any]) -> bool:
    """An item that is missing because its list is shorter is told by the list's length already."""
    return all(thing is _MISSING or isinstance(thing, (int, float, str)) for thing in things)


def _can_be_collated(thing: Any) -> bool:
    if thing is None or isinstance(thing, (_List, int, float, str, bytes)) or _is_tensor(thing):
        return True
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(thing, numpy.ndarray):
        return thing.dtype.kind not in "OSU"
    if numpy is not None and isinstance(thing, numpy.generic):
        return True
    from torch.utils.data._utils.collate import default_collate_fn_map

    return any(isinstance(thing, kind) for kind in default_collate_fn_map)


def _is_tensor(thing: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(thing, torch.Tensor)


def _is_array(thing: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(thing, numpy.ndarray)


def _shape(thing: Any) -> tuple[int, ...] | None:
    return tuple(map(int, thing.shape)) if _is_tensor(thing) or _is_array(thing) else None


def _form(thing: Any) -> str:
    if thing is _MISSING:
        return "missing"
    if thing is None:
        return "None"
    if isinstance(thing, _List):
        return f"{thing.kind} of {thing.length}"
    shape = _shape(thing)
    if shape is not None:
        return f"{str(thing.dtype).removeprefix('torch.')}{list(shape)}"
    return type_name(thing)
