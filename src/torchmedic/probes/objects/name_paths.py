"""Who keeps an object: the names by which the script reaches it."""

from __future__ import annotations

import collections
import sys
from collections.abc import Iterable, Iterator
from dataclasses import field
from types import FrameType, FunctionType, ModuleType
from typing import Any, NamedTuple

import torch
from torch import nn

from torchmedic.late import late_dataclass
from torchmedic.probes.objects.contents import pairs_in
from torchmedic.probes.source.frames import file_of, is_user_file, outward

_MOST_VISITED = 30_000
_DEEPEST = 5
_MOST_OF_A_NAME = 4
_CONTAINERS = (list, tuple, dict, collections.deque, set)


@late_dataclass(frozen=True)
class Keeper:
    """`path` as one would write it, `owner` the part before the last attribute, `name` the last identifier.

    `container` is the kind of the one that holds the object itself, `outermost` the kind of what `path` leads to.
    `slot` is the key or the position of a kept object in the item of the container that it is a part of, `key` the one
    under which a dict inside of it holds the object itself. `function` is the running one whose variable the path
    begins with; empty for the names of a module.
    """

    path: str
    owner: str
    name: str
    container: str
    outermost: str = field(default="", compare=False)
    slot: Any = field(default=None, compare=False)
    key: str = field(default="", compare=False)
    function: str = field(default="", compare=False)


def namespaces(frame: FrameType | None) -> list[tuple[str, dict[str, Any]]]:
    """The names of the user's running functions, innermost first, with who they are; then of the user's modules."""
    found: list[tuple[str, dict[str, Any]]] = []
    for each in outward(frame):
        if is_user_file(each.f_code.co_filename) and each.f_code.co_name != "<module>":
            found.append((each.f_code.co_name, dict(each.f_locals)))
    found += [("", vars(module)) for module in user_modules()]
    return found


def user_modules() -> list[ModuleType]:
    known = list(sys.modules.values())
    return [m for m in known if isinstance(m, ModuleType) and is_user_file(getattr(m, "__file__", None) or "")]


def keepers_of(things: list[Any], frame: FrameType | None) -> list[tuple[Keeper, list[Any]]]:
    """Every path from the user's names to some objects, with those that it reaches; the richest first."""
    search = _Search(things)
    for function, names in namespaces(frame):
        search.go_on(_Place(name, "", name, thing, function=function) for name, thing in list(names.items()))
    # What functions were given has names of its own, but those that the script has for it say more.
    while search.enclosed:
        given, search.enclosed = search.enclosed, []
        search.go_on(_Place(name, "", name, thing) for name, thing in _of_few_functions(given))
    return sorted(search.found.items(), key=lambda pair: -len(pair[1]))


class _Place(NamedTuple):
    """Something, how the script reaches it, and the containers it lies in below that name: outermost and innermost."""

    path: str
    owner: str
    name: str
    thing: Any
    container: str = ""
    outermost: str = ""
    keys: tuple[Any, ...] = ()
    depth: int = 0
    function: str = ""


class _Search:
    """Goes from names to what they hold, nearest first, each thing once."""

    def __init__(self, things: list[Any]) -> None:
        self._wanted = {id(thing) for thing in things}
        self._seen: set[int] = set()
        self.found: dict[Keeper, list[Any]] = {}
        self.enclosed: list[tuple[str, Any]] = []

    def go_on(self, start: Iterable[_Place]) -> None:
        waiting = collections.deque(start)
        while waiting and len(self._seen) < _MOST_VISITED:
            place = waiting.popleft()
            if id(place.thing) in self._wanted:
                self.found.setdefault(_keeper(place), []).append(place.thing)
            if id(place.thing) in self._seen or place.depth >= _DEEPEST or place.path.startswith("__"):
                continue
            self._seen.add(id(place.thing))
            waiting.extend(self._below(place))

    def _below(self, place: _Place) -> Iterator[_Place]:
        deeper = place._replace(depth=place.depth + 1)
        if isinstance(place.thing, FunctionType):
            if is_user_file(place.thing.__code__.co_filename):
                yield from self._inside_function(place.thing, deeper)
            return
        for label, key, item in _parts(place.thing):
            if label:
                yield _Place(
                    place.path + label, place.path, label[1:], item, depth=deeper.depth, function=place.function
                )
            else:
                kind = type(place.thing).__name__
                outermost = place.outermost or kind
                yield deeper._replace(thing=item, container=kind, outermost=outermost, keys=(*place.keys, key))

    def _inside_function(self, function: FunctionType, deeper: _Place) -> Iterator[_Place]:
        """Functions that a container collects are kept with all they were given; of others, it is looked at later.

        Hooks lie in containers of torch's, of which another rule tells.
        """
        if deeper.container and not deeper.name.endswith("_hooks"):
            yield from (deeper._replace(thing=item) for _, item in _enclosed(function))
        else:
            self.enclosed += _enclosed(function)
            for name, item in vars(function).items():
                yield _Place(
                    f"{deeper.path}.{name}", deeper.path, name, item, depth=deeper.depth, function=deeper.function
                )


def _keeper(place: _Place) -> Keeper:
    keys = place.keys
    slot = keys[1] if len(keys) > 1 and isinstance(keys[1], (int, str)) else None
    key = keys[-1] if len(keys) > 1 and place.container == "dict" and isinstance(keys[-1], str) else ""
    return Keeper(place.path, place.owner, place.name, place.container, place.outermost, slot, key, place.function)


def _parts(thing: Any) -> Iterator[tuple[str, Any, Any]]:
    """What an object holds: `(".attribute", None, item)`, or `("", key or position, item)` of a container."""
    if isinstance(thing, (list, tuple, collections.deque, set)):
        items = list(thing)
        few = items if len(items) <= 4000 else items[:2000] + items[-2000:]
        yield from (("", position, item) for position, item in enumerate(few))
    elif isinstance(thing, dict):
        pairs = pairs_in(thing)
        yield from (("", key, item) for key, item in (pairs if len(pairs) <= 400 else pairs[:200] + pairs[-200:]))
    elif isinstance(thing, (torch.Tensor, ModuleType, type)) or _is_function(thing):
        return
    else:
        held = getattr(thing, "__dict__", None)
        if isinstance(held, dict):
            for name, item in pairs_in(held)[:200]:
                if name in ("_modules", "_buffers") and isinstance(item, dict):
                    yield from ((f".{child}", None, below) for child, below in pairs_in(item))
                elif name != "_parameters":
                    yield f".{name}", None, item
        if is_user_file(file_of(type(thing))):
            shared = vars(type(thing)).items()
            yield from ((f".{name}", None, item) for name, item in shared if isinstance(item, _CONTAINERS))


def _enclosed(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """What a function was given on its way: the defaults of its arguments, and the names of who made it."""
    code, defaults = function.__code__, function.__defaults__ or ()
    yield from zip(code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount], defaults, strict=True)
    yield from (function.__kwdefaults__ or {}).items()
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not assigned yet
            continue


def _of_few_functions(given: list[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """What functions were given, but for those that are made again and again: of hooks like that another rule tells."""
    things = collections.defaultdict[str, dict[int, Any]](dict)
    for name, thing in given:
        things[name][id(thing)] = thing
    for name, known in things.items():
        if len(known) <= _MOST_OF_A_NAME:
            yield from ((name, thing) for thing in known.values())


def _is_function(thing: Any) -> bool:
    """Whether a thing is there to be called and no more; what a class of the user's keeps beside that is its own."""
    return callable(thing) and not isinstance(thing, nn.Module) and not is_user_file(file_of(type(thing)))
