"""Observations to plain dictionaries and back, by their type hints."""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from typing import Any

from torchmedic.facts.core import Observation


def to_plain(value: Any) -> Any:
    """A structure of dicts, lists and scalars that `json` can write; default values are left out."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            f.name: to_plain(getattr(value, f.name))
            for f in dataclasses.fields(value)
            if not _is_default(f, getattr(value, f.name))
        }
    if isinstance(value, dict):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_plain(item) for item in value]
    return value


def _is_default(f: dataclasses.Field[Any], value: Any) -> bool:
    if f.default is not dataclasses.MISSING:
        return type(value) is type(f.default) and bool(value == f.default)
    return f.default_factory is not dataclasses.MISSING and not value


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def from_plain(kind: Any, plain: Any) -> Any:
    """The inverse of `to_plain` for a type; unknown keys of a newer writer are dropped."""
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        hints = _hints(kind)
        known = {name: from_plain(hints[name], item) for name, item in plain.items() if name in hints}
        return kind(**known)
    origin = typing.get_origin(kind)
    arguments = typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        if plain is None:
            return None
        return from_plain(next(a for a in arguments if a is not type(None)), plain)
    if origin is tuple:
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return tuple(from_plain(arguments[0], item) for item in plain)
        return tuple(from_plain(a, item) for a, item in zip(arguments, plain, strict=True))
    if origin is dict:
        return {key: from_plain(arguments[1], item) for key, item in plain.items()}
    if origin is list:
        return [from_plain(arguments[0], item) for item in plain]
    if kind is float and isinstance(plain, int):
        return float(plain)
    return plain


def observation_from_plain(kind: str, plain: dict[str, Any]) -> Observation | None:
    """An observation read from a run file; None for a kind that this version does not know."""
    cls = Observation.kinds.get(kind)
    if cls is None:
        return None
    found: Observation = from_plain(cls, plain)
    return found
