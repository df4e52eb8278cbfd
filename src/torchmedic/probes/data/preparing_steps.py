"""The steps by which two data sets prepare their samples: which of them one lacks, and where they were put together."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from torchmedic.facts import Location
from torchmedic.late import late_dataclass
from torchmedic.probes.events.loaders import base_of
from torchmedic.probes.objects.values import type_name
from torchmedic.probes.source.expressions import called_name, vars_of
from torchmedic.probes.source.making_lines import (
    Place,
    argument_at,
    argument_of,
    attribute_given,
    attribute_made,
    line_made,
    places_behind,
)

_MOST_DEPTH = 3
_MOST_STEPS = 40


@late_dataclass(frozen=True)
class Steps:
    """The attribute that holds a data set's steps, their names, and the line that put them together."""

    attribute: str
    names: tuple[str, ...]
    composed: Location | None


def steps_apart(mine: Any, built: Location | None, its: Any, its_built: Location | None) -> tuple[Steps, Steps] | None:
    """The steps of two data sets, of the first attribute in which they differ."""
    one, other = base_of(mine), base_of(its)
    for name, value in list(vars_of(one).items()):
        fellow = vars_of(other).get(name)
        if value is fellow or not callable(value) or not callable(fellow):
            continue
        own, others = tuple(_names(value, _MOST_DEPTH)), tuple(_names(fellow, _MOST_DEPTH))
        if own != others and own and others:
            return (
                Steps(name, own, _composed(type(one), name, built)),
                Steps(name, others, _composed(type(other), name, its_built)),
            )
    return None


def _names(step: Any, depth: int) -> Iterator[str]:
    """What a preparation is made of: the items of a `Compose`, or of whatever else holds a list of callables."""
    held = [*vars_of(step).values(), list((vars_of(step).get("_modules") or {}).values())]
    inner = next((h for h in held if isinstance(h, (list, tuple)) and h and all(map(callable, h))), None)
    if inner is not None and depth:
        for part in inner[:_MOST_STEPS]:
            yield from _names(part, depth - 1)
    else:
        yield getattr(step, "__name__", "") or type_name(step).rpartition(".")[2]


def _composed(kind: type, attribute: str, built: Location | None) -> Location | None:
    """The line that made what the data set of this very loader was given for an attribute."""
    made = attribute_made(kind, attribute)
    given_to = _assigned(made) if made is not None else None
    parameter = given_to.id if isinstance(given_to, ast.Name) else attribute
    dataset = argument_at(built, "DataLoader", 0, "dataset")
    for place in places_behind((attribute_given(dataset) or dataset) if dataset is not None else None):
        call = place.value
        if isinstance(call, ast.Call) and called_name(call) == kind.__name__:
            given = argument_of(call, _position(made, parameter), parameter)
            return line_made(Place(place.file, place.scope, given)) if given is not None else None
    return None


def _assigned(made: Place) -> ast.expr:
    """What an attribute is given, also as one of several in a line."""
    value = made.value
    is_part = isinstance(value, ast.Tuple) and made.part is not None and made.part < len(value.elts)
    return value.elts[made.part or 0] if is_part and isinstance(value, ast.Tuple) else value


def _position(made: Place | None, parameter: str) -> int:
    """Which argument of the class a parameter of its `__init__` is; none that there could be, where it is not known."""
    arguments = getattr(made.scope, "args", None) if made is not None else None
    names = [a.arg for a in arguments.args] if isinstance(arguments, ast.arguments) else []
    return names.index(parameter) - 1 if parameter in names else _MOST_STEPS
