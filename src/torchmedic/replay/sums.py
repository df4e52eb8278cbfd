"""Sums in the first pass of a network: which lines take them, over how many terms, and where that was chosen."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator
from typing import Any

from torch import nn

from torchmedic.facts import Location, SummedUp
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.graph.trace import Op, Trace
from torchmedic.probes.source.expressions import parsed
from torchmedic.probes.source.frames import file_of, is_user_file, location

_LEAST_TERMS = 4
_MOST_LINES = 3
# By the beginning of their names: which operand holds the terms.
SUMS = {"aten.sum.dim": 0, "aten.scatter_add": -1, "aten.index_add": -1, "aten.scatter_reduce": -1}
PRODUCTS = ("aten.mm", "aten.bmm")


def sums_in(trace: Trace, start: int, modules: Modules, loss: float) -> Iterator[SummedUp]:
    """The lines of a network that sum up most, of those behind its loss."""
    lines: dict[str, list[Op]] = {}
    for op in trace.ancestors(start):
        if op.module and op.phase == "forward" and op.place is not None and terms_of(op) >= _LEAST_TERMS:
            lines.setdefault(str(op.place.location()), []).append(op)
    known = {path: module for root in modules.roots() for path, module in root.named_modules()}
    heaviest = sorted(lines.values(), key=lambda ops: -sum(math.log(terms_of(op)) for op in ops))
    for ops in heaviest[:_MOST_LINES]:
        place = ops[0].place
        if place is None:
            continue
        layer, option, chosen = _chosen_at(ops[0].module, known, modules)
        yield SummedUp(
            step=1,
            where=place.location(),
            expression=place.expression(),
            terms=max(map(terms_of, ops)),
            calls=len(ops),
            largest=max((_largest(op.outputs) for op in ops), default=0.0),
            loss=loss,
            layer=layer,
            option=option,
            chosen=chosen,
        )


def terms_of(op: Op) -> int:
    """How many values an operation sums up into each of its own, as a rule; 0 where it is no sum."""
    made = math.prod(op.outputs[0].shape) if op.outputs else 0
    if not made or not op.inputs:
        return 0
    for name, position in SUMS.items():
        if op.name.startswith(name):
            return round(math.prod(op.inputs[position].shape) / made)
    is_product = op.name.startswith(PRODUCTS) and len(op.inputs) > 1 and not op.inputs[0].requires_grad
    return op.inputs[0].shape[-1] if is_product else 0


def _largest(seen: Iterable[Any]) -> float:
    return max((max(abs(one.low), abs(one.high)) for one in seen if one.looked_at and not one.is_bad), default=0.0)


def _chosen_at(path: str, known: dict[str, nn.Module], modules: Modules) -> tuple[str, Location | None, str]:
    """The layer around a sum that has an `aggr`, and the line that gives it one."""
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        layer = known.get(".".join(parts[:length]))
        chosen = getattr(layer, "aggr", None)
        if layer is not None and isinstance(chosen, str):
            return type(layer).__name__, _option_line(type(layer)) or modules.born_at(layer), chosen
    return "", None, ""


def _option_line(kind: type) -> Location | None:
    """The line of a user's class that gives `aggr` to what it is derived from."""
    file = file_of(kind)
    tree = parsed(file) if file and is_user_file(file) else None
    classes = [n for n in ast.walk(tree) if isinstance(n, ast.ClassDef)] if tree is not None else []
    for owner in (node for node in classes if node.name == kind.__name__):
        for call in (node for node in ast.walk(owner) if isinstance(node, ast.Call)):
            given = next((k.value for k in call.keywords if k.arg == "aggr"), None)
            if given is not None:
                return location(file, given.lineno, f"{kind.__qualname__}.__init__")
    return None
