"""Finds generators that have ended, under the names by which the failing frames reach them."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from types import GeneratorType
from typing import Any

from torchmedic.facts import UsedUpGenerator
from torchmedic.probes.source.expressions import vars_of
from torchmedic.probes.source.frames import is_user_file

_MOST_ATTRIBUTES = 50


def used_up_generator(error: BaseException) -> UsedUpGenerator | None:
    """The first ended generator that a variable of the user's frames holds, or an attribute of one."""
    frames = [f for f, _ in traceback.walk_tb(error.__traceback__) if is_user_file(f.f_code.co_filename)]
    for frame in reversed(frames):
        for name, path, thing in _reached(dict(frame.f_locals)):
            if isinstance(thing, GeneratorType) and thing.gi_frame is None:
                return UsedUpGenerator(variable=name, path=path, function=_function(thing))
    return None


def _reached(names: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    for name, thing in names.items():
        yield name, name, thing
        for attribute, held in list(vars_of(thing).items())[:_MOST_ATTRIBUTES]:
            yield name, f"{name}.{attribute}", held


def _function(generator: GeneratorType[Any, Any, Any]) -> str:
    """The function that made a generator, also where it did so by an expression."""
    return generator.__qualname__.replace("<locals>.", "").removesuffix(".<genexpr>")
