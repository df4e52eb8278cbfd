"""The line that chose which samples a loader reads: the indices of a `Subset` or of a sampler, or the split itself."""

from __future__ import annotations

import ast

from torchmedic.facts import Location
from torchmedic.probes.source.expressions import called_name
from torchmedic.probes.source.making_lines import Place, argument_at, argument_of, attribute_given, places_behind

_BY_INDICES = {"Subset": 1, "SubsetRandomSampler": 0, "SubsetSequentialSampler": 0}
_SPLITS = frozenset(("random_split", "Subset", *_BY_INDICES))
_SAMPLER_POSITION = 3


def cut_line(loader_built: Location | None) -> Location | None:
    """The line that cut out what a loader reads; None where the script does not show it."""
    sampler = argument_at(loader_built, "DataLoader", _SAMPLER_POSITION, "sampler")
    for given in (sampler, argument_at(loader_built, "DataLoader", 0, "dataset")):
        for place in places_behind(_through_self(given)):
            if isinstance(place.value, ast.Call) and called_name(place.value) in _SPLITS:
                return _indices_line(place, place.value) or place.location()
    return None


def _through_self(place: Place | None) -> Place | None:
    return (attribute_given(place) or place) if place is not None else None


def _indices_line(place: Place, call: ast.Call) -> Location | None:
    """Where the indices were chosen, which may be long before they are used."""
    position = _BY_INDICES.get(called_name(call))
    chosen = argument_of(call, position, "indices") if position is not None else None
    if not isinstance(chosen, ast.Name):
        return None
    behind = places_behind(Place(place.file, place.scope, chosen))
    return next((each.location() for each in behind if each.part is None), None)
