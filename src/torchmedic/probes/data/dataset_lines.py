"""What the code and the attributes of data sets tell: how labels are numbered, where samples are made."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from torchmedic.facts import Location
from torchmedic.late import late_dataclass
from torchmedic.probes.events.loaders import base_of
from torchmedic.probes.objects.values import type_name
from torchmedic.probes.source.expressions import function_of, parsed
from torchmedic.probes.source.frames import is_user_file, location
from torchmedic.probes.source.sources import filled_by, hung_at, user_files


@late_dataclass(frozen=True)
class Numbering:
    """An attribute of two data sets of one class that numbers the same labels in different ways.

    `numbers` are those of `label` in the one and in the other, `alone` the labels that only the one or the other has.
    """

    attribute: str
    kind: type
    label: str
    numbers: tuple[int, int]
    differing: int
    common: int
    alone: tuple[tuple[str, ...], tuple[str, ...]]


def differing_map(first: Any, second: Any) -> Numbering | None:
    """The first attribute in which two data sets disagree about the numbers of labels."""
    mine, its = base_of(first), base_of(second)
    if mine is None or type(mine) is not type(its) or mine is its:
        return None
    for name, value in list(getattr(mine, "__dict__", {}).items())[:50]:
        one, two = _numbered(value), _numbered(vars(its).get(name))
        if not one and not two:
            one, two = _listed(value, mine), _listed(vars(its).get(name), its)
            if one.keys() != two.keys():
                continue
        common = sorted(one.keys() & two.keys())
        differing = [label for label in common if one[label] != two[label]]
        if len(common) > 1 and differing:
            label = differing[0]
            alone = (tuple(sorted(one.keys() - two.keys())), tuple(sorted(two.keys() - one.keys())))
            return Numbering(
                name, type(mine), label, (one[label], two[label]), len(differing), len(common), alone=alone
            )
    return None


def _numbered(value: Any) -> dict[str, int]:
    """Labels and their numbers, of a dict that holds them."""
    is_map = isinstance(value, dict) and 1 < len(value) <= 10_000
    pairs = value.items() if is_map else ()
    fits = is_map and all(isinstance(k, str) and isinstance(n, int) and not isinstance(n, bool) for k, n in pairs)
    return dict(value) if fits else {}


def _listed(value: Any, dataset: Any) -> dict[str, int]:
    """Labels and their places, of a list that holds each once; a list as long as the data names its samples.

    `unique` of NumPy and of pandas gives an array, and that of pandas in the order in which labels are met.
    """
    is_array = getattr(value, "ndim", 0) == 1 and type(value).__module__.partition(".")[0] in ("numpy", "pandas")
    is_short = (
        (isinstance(value, (list, tuple)) or is_array) and 1 < len(value) <= 1_000 and hasattr(dataset, "__len__")
    )
    if not is_short or 2 * len(value) > len(dataset):
        return {}
    labels = value.tolist() if is_array else list(value)
    fits = all(isinstance(label, str) for label in labels) and len(set(labels)) == len(labels)
    return {label: place for place, label in enumerate(labels)} if fits else {}


def none_in_one(mine: Any, its: Any) -> tuple[str, str]:
    """The first attribute that is None for one of two data sets of a class, and what it is for the other."""
    if mine is None or type(base_of(mine)) is not type(base_of(its)):
        return "", ""
    own, other = getattr(base_of(mine), "__dict__", {}), getattr(base_of(its), "__dict__", {})
    for name, value in own.items():
        if name in other and value is None and other[name] is not None:
            return name, type_name(other[name])
    return "", ""


def returned_at(dataset: Any, which: int) -> Location | None:
    """The line of a user's data set that makes a part of what it returns."""
    return returned_by(type(base_of(dataset)), which)


def returned_by(kind: type, which: int) -> Location | None:
    """The same of a data set's class."""
    code = getattr(getattr(kind, "__getitem__", None), "__code__", None)
    function = function_of(code) if code is not None and is_user_file(code.co_filename) else None
    if function is None or code is None:
        return None
    returned = [node.value for node in ast.walk(function) if isinstance(node, ast.Return)]
    parts = [value.elts[which] for value in returned if isinstance(value, ast.Tuple) and len(value.elts) > 1]
    if not parts:
        return _appended_as_one(kind, returned, which)
    names = [n.id for n in ast.walk(parts[-1]) if isinstance(n, ast.Name)]
    made = [
        node.lineno
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and any(ast.unparse(target) in names for target in node.targets)
    ]
    own = [n.attr for n in ast.walk(parts[-1]) if isinstance(n, ast.Attribute) and ast.unparse(n.value) == "self"]
    if not made and own:
        filled = filled_by(kind, own[0])
        return location(filled[0], filled[1].lineno) if filled is not None else hung_at(kind, own[0])
    return location(code.co_filename, max(made) if made and which else min(made, default=parts[-1].lineno))


def _appended_as_one(kind: type, returned: list[ast.expr | None], which: int) -> Location | None:
    """For `return self.samples[i]`: the part of the tuple that was appended to `self.samples`."""
    for value in returned:
        owner = value.value if isinstance(value, ast.Subscript) else None
        own = owner.attr if isinstance(owner, ast.Attribute) and ast.unparse(owner.value) == "self" else ""
        filled = filled_by(kind, own) if own else None
        pair = filled[1].args[0] if filled is not None else None
        if filled is not None and isinstance(pair, ast.Tuple) and len(pair.elts) > 1:
            return location(filled[0], pair.elts[which].lineno)
    return None


def settings_below() -> Iterator[tuple[str, ast.Assign, str]]:
    """`part.dataset.attribute = …` outside of loops: in a loop it may be set back for every phase."""
    for file in user_files():
        tree = parsed(file)
        waiting: list[ast.AST] = [tree] if tree is not None else []
        found: list[tuple[str, ast.Assign, str]] = []
        while waiting:
            node = waiting.pop()
            if isinstance(node, (ast.For, ast.While, ast.AsyncFor)):
                continue
            target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
            below = target.value if isinstance(target, ast.Attribute) else None
            if isinstance(node, ast.Assign) and isinstance(below, ast.Attribute) and below.attr == "dataset":
                found.append((file, node, target.attr))  # type: ignore[union-attr]
            waiting.extend(ast.iter_child_nodes(node))
        yield from sorted(found, key=lambda one: one[1].lineno)
