"""How the script calls the classes of its labels, where it keeps their names in order or numbered."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import FrameType
from typing import Any

from torch.utils.data import Dataset

from torchmedic.probes.objects.name_paths import namespaces

_MOST_HELD = 200
# What stands for no class: padding, pieces of words that carry no label, marks of the model itself.
_NO_CLASS = re.compile(
    r"[\W_\d]*|n/?a|[<\[{(].*|.*pad.*|.*ignore.*|.*mask.*|.*label+ed.*|null|none|void|unk|"
    r"unknown|undefined|other|others|misc|dummy|special|background|bg|x|cls|sep|[bse]os|start|end|stop",
    re.IGNORECASE,
)


def name_of_class(number: int, classes: int, frame: FrameType | None) -> str:
    """The name of a class by every list of as many names that the script holds; empty where none is a real one."""
    names = {held[number] for held in _held(classes, frame)}
    return min(names) if names and not any(_NO_CLASS.fullmatch(name) for name in names) else ""


def _held(classes: int, frame: FrameType | None) -> Iterator[list[str]]:
    for _, scope in namespaces(frame):
        for thing in list(scope.values())[:_MOST_HELD]:
            inside = list(vars(thing).values())[:_MOST_HELD] if isinstance(thing, Dataset) else []
            for held in (thing, *inside):
                names = _in_order(held, classes)
                if names is not None:
                    yield names


def _in_order(held: Any, classes: int) -> list[str] | None:
    """The names of all classes, where that is what a list or a table of numbers holds."""
    if not isinstance(held, (list, tuple, dict)) or len(held) != classes:
        return None
    if isinstance(held, dict):
        pairs = list(held.items())
        pairs = [(value, key) for key, value in pairs] if all(isinstance(key, str) for key, _ in pairs) else pairs
        if not all(type(number) is int for number, _ in pairs) or {n for n, _ in pairs} != set(range(classes)):
            return None
        held = [name for _, name in sorted(pairs, key=lambda pair: pair[0])]
    is_names = all(isinstance(name, str) for name in held) and len(set(held)) == classes
    return list(held) if is_names else None
