"""Iterators that hand out their items once: which variable of a loop holds one, and which line made it."""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterator
from types import FrameType, GeneratorType
from typing import Any

from torch.utils.data import dataloader

from torchmedic.facts import Location
from torchmedic.late import late_dataclass
from torchmedic.probes.objects.bindings import locals_of
from torchmedic.probes.source.expressions import MISSING, enclosing_function, parsed, peek, vars_of
from torchmedic.probes.source.frames import is_user_file, location, outward
from torchmedic.probes.source.making_lines import Place, attribute_made, variable_made
from torchmedic.probes.source.planned_epochs import count_of, loops_around

_JOINED = (zip, map, filter, enumerate)
_ENDING = (ast.Break, ast.Return, ast.Raise)
_LOOPS = (ast.For, ast.While, ast.AsyncFor)
_MOST_DEPTH = 4


@late_dataclass(frozen=True)
class Source:
    """What a loop goes over: its name where it was made, that line, and how often the loop around it is to run."""

    name: str
    made: Location | None
    text: str
    passes: int | None
    outer: ast.For | None
    iterator: Any


@late_dataclass(frozen=True)
class Held:
    """An iterator that was made before the loop over epochs, kept to see at the end whether it is used up."""

    iterator: Any
    name: str
    made: Location | None
    text: str
    loop: Location
    passes: int


def is_one_shot(thing: Any) -> bool:
    """A plain iterator of Python's, or the pass of a loader: it does not begin again when it is looped over again."""
    if isinstance(thing, dataloader._BaseDataLoaderIter):
        return True
    return isinstance(thing, Iterator) and type(thing).__module__ in ("builtins", "itertools")


def is_spent(thing: Any, depth: int = 0) -> bool:
    """Whether an iterator has nothing left, as far as that is seen without asking it."""
    if isinstance(thing, GeneratorType):
        return thing.gi_frame is None
    if isinstance(thing, _JOINED):
        inside = thing.__reduce__()[1] if depth < _MOST_DEPTH else ()
        return any(is_one_shot(part) and is_spent(part, depth + 1) for part in inside)
    if isinstance(thing, dataloader._BaseDataLoaderIter) or not hasattr(thing, "__length_hint__"):
        return False
    return operator.length_hint(thing, 1) == 0


def _has_loader(thing: Any, depth: int = 0) -> bool:
    if isinstance(thing, _JOINED) and depth < _MOST_DEPTH:
        return any(_has_loader(part, depth + 1) for part in thing.__reduce__()[1])
    return isinstance(thing, dataloader._BaseDataLoaderIter)


def loop_at(frame: FrameType) -> ast.For | None:
    """The `for` statement whose next item a frame asks for."""
    tree, line = parsed(frame.f_code.co_filename), frame.f_lineno or 0
    loops = [n for n in ast.walk(tree) if isinstance(n, ast.For)] if tree is not None else []
    fitting = [n for n in loops if n.lineno <= line <= (n.iter.end_lineno or 0)]
    return max(fitting, key=lambda n: n.lineno, default=None)


def source_of(loop: ast.For, frame: FrameType) -> Source | None:
    """The variable with a one-shot iterator that a loop goes over."""
    for node in ast.walk(loop.iter):
        if not isinstance(node, (ast.Name, ast.Attribute)):
            continue
        value = peek(node, frame)
        # A progress bar goes over what it was given anew each time.
        inside = vars_of(value).get("iterable", value) if value is not MISSING else MISSING
        if inside is not MISSING and is_one_shot(inside):
            return described(node, value, inside, frame)
    return None


def described(node: ast.Name | ast.Attribute, value: Any, inside: Any, frame: FrameType) -> Source:
    if isinstance(node, ast.Attribute):
        owner, name, at = peek(node.value, frame), ast.unparse(node), frame
        place = attribute_made(type(owner), node.attr) if owner is not MISSING else None
    else:
        name, at = _outermost(node.id, value, frame)
        place = _bound_in(at, name)
    outer = _loop_over_epochs(at, place, frame)
    return Source(
        name=name,
        made=place.location() if place is not None else None,
        text=ast.unparse(place.value) if place is not None else "",
        passes=count_of(outer[0], outer[1]) if outer is not None else None,
        outer=outer[0] if outer is not None else None,
        iterator=inside,
    )


def _outermost(name: str, value: Any, frame: FrameType) -> tuple[str, FrameType]:
    """The outermost of the user's frames that holds a value, and its name there: a function was only given it."""
    found = name, frame
    for outer in outward(frame.f_back):
        if is_user_file(outer.f_code.co_filename):
            names = (key for key, held in locals_of(outer).items() if held is value)
            known = next(names, None)
            found = (known, outer) if known is not None else found
    return found


def _bound_in(frame: FrameType, name: str) -> Place | None:
    file = frame.f_code.co_filename
    tree = parsed(file)
    if tree is None:
        return None
    scope = enclosing_function(tree, frame) if name in frame.f_code.co_varnames + frame.f_code.co_cellvars else tree
    return variable_made(file, scope, name)


def _loop_over_epochs(at: FrameType, place: Place | None, frame: FrameType) -> tuple[ast.For, FrameType] | None:
    """The loop over `range(…)` that goes round without making the iterator again."""
    for user in (f for f in outward(frame) if is_user_file(f.f_code.co_filename)):
        for loop in loops_around(user):
            is_inside = place is not None and user is at and loop.lineno <= place.value.lineno <= (loop.end_lineno or 0)
            if not is_inside and (count_of(loop, user) or 0) > 1:
                return loop, user
        if user is at:
            return None
    return None


def loops_to_hold(frames: list[FrameType]) -> Iterator[Held]:
    """The loops around a step whose iterator was made once, before a loop that is to go round several times."""
    for frame in frames:
        for loop in loops_around(frame):
            source = source_of(loop, frame)
            # A loader's pass is heard of when it is asked again; kept, its workers would live on.
            if source is None or source.made is None or _has_loader(source.iterator):
                continue
            passes = passes_of(source, frame)
            if passes is not None:
                where = location(frame.f_code.co_filename, loop.lineno, frame.f_code.co_qualname)
                yield Held(source.iterator, source.name, source.made, source.text, where, passes)


def passes_of(source: Source, frame: FrameType) -> int | None:
    """How often what was made once is gone over; None where the loop around may be left early, or nobody knows."""
    if source.made is None or source.outer is None or _may_end_early(source.outer):
        return None
    return source.passes if _times_bound(frame, source) == 1 else None


def _may_end_early(loop: ast.For) -> bool:
    """Whether a loop can be left before its last turn: then nobody knows how often it went round."""
    waiting: list[tuple[ast.AST, bool]] = [(node, False) for node in loop.body]
    while waiting:
        node, is_deeper = waiting.pop()
        if isinstance(node, _ENDING) and not (is_deeper and isinstance(node, ast.Break)):
            return True
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in ("exit", "_exit", "quit"):
            return True
        waiting += [(child, is_deeper or isinstance(node, _LOOPS)) for child in ast.iter_child_nodes(node)]
    return False


def _times_bound(frame: FrameType, source: Source) -> int:
    """How many statements of the file give something to the name of an iterator."""
    tree = parsed(frame.f_code.co_filename)
    last = source.name.rpartition(".")[2]
    count = 0
    for node in ast.walk(tree) if tree is not None else ():
        targets = node.targets if isinstance(node, ast.Assign) else ()
        names = [ast.unparse(t) for target in targets for t in (getattr(target, "elts", None) or [target])]
        count += sum(name.rpartition(".")[2] == last for name in names)
    return count
