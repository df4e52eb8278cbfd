"""Groups of an optimizer whose learning rate is 0 at every look, while gradients reach them and others learn."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from typing import Any

import torch
from torch import nn

from torchmedic.facts import GroupWithoutRate, Location
from torchmedic.late import late_dataclass
from torchmedic.probes.objects.holdings import registered
from torchmedic.probes.source.expressions import called_name
from torchmedic.probes.source.frames import location
from torchmedic.probes.source.sources import user_nodes

_LEAST_LOOKS = 10
# Beside the rate of the others it is nothing: float32 has no digits for such a step.
_NOTHING = 1e-9
_SPEAKS = re.compile(r"lr|rate|mult|scale|factor", re.IGNORECASE).search


@late_dataclass()
class _Groups:
    optimizer: str
    built: Location | None
    highest: list[float]
    looks: int = 0
    names: dict[int, tuple[str, ...]] = field(default_factory=dict)
    counts: dict[int, int] = field(default_factory=dict)


class StillGroups:
    """The highest rate of each group, over all steps looked at."""

    def __init__(self) -> None:
        self._seen: dict[int, _Groups] = {}

    def begin(self, optimizer: Any, built: Location | None) -> None:
        self._seen[id(optimizer)] = _Groups(type(optimizer).__name__, built, [])

    def look(self, optimizer: Any, rates: tuple[float, ...], roots: Callable[[], Iterable[nn.Module]]) -> None:
        known = self._seen.get(id(optimizer))
        if known is None or len(rates) < 2:
            return
        known.highest = known.highest or [0.0] * len(rates)
        if len(known.highest) != len(rates):  # a group was added: it may have waited for its turn
            self._seen.pop(id(optimizer))
            return
        known.looks += 1
        known.highest = [max(pair) for pair in zip(known.highest, rates, strict=True)]
        if known.looks == _LEAST_LOOKS:
            self._name(known, optimizer, roots)

    def _name(self, known: _Groups, optimizer: Any, roots: Callable[[], Iterable[nn.Module]]) -> None:
        still = [at for at in _still(known) if _is_reached(optimizer.param_groups[at]["params"])]
        owners = registered(roots()) if still else {}
        for at in still:
            held = optimizer.param_groups[at]["params"]
            known.names[at] = tuple(owners[id(p)].path for p in held if id(p) in owners)[:4]
            known.counts[at] = len(held)

    def facts(self) -> Iterator[GroupWithoutRate]:
        for known in self._seen.values():
            still = [at for at in _still(known) if at in known.names]
            if not still or _is_asked_for():
                continue
            yield GroupWithoutRate(
                optimizer=known.optimizer,
                group=still[0],
                groups=len(known.highest),
                rate=known.highest[still[0]],
                others=max(known.highest),
                parameters=known.names[still[0]],
                count=known.counts[still[0]],
                where=written_at(still[0], len(known.highest)) or known.built,
            )


def _still(known: _Groups) -> list[int]:
    return [at for at, rate in enumerate(known.highest) if rate <= _NOTHING * max(known.highest)]


def _is_reached(parameters: list[torch.Tensor]) -> bool:
    return any(p.requires_grad and p.grad is not None and bool((p.grad != 0).any()) for p in parameters)


def _is_asked_for() -> bool:
    """Whether the script, or its command line, has a rate or a factor of 0, which is one way to freeze."""
    told = any(re.fullmatch(r"(?:.*=)?0*\.?0+", word) for word in sys.argv[1:])
    return told or any(_is_zero(value) for _, node in user_nodes() for value in _settings(node))


def _is_zero(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and type(value.value) in (int, float) and value.value == 0


def _settings(node: ast.AST) -> Iterator[ast.expr]:
    """What is given under a name that speaks of rates: in a dict, to a call, to a variable, as a default."""
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        yield from (value for key, value in pairs if isinstance(key, ast.Constant) and _SPEAKS(str(key.value)))
    elif isinstance(node, ast.Call):
        is_option = called_name(node) == "add_argument" and bool(_SPEAKS(ast.unparse(node)))
        yield from (g.value for g in node.keywords if _SPEAKS(g.arg or "") or (is_option and g.arg == "default"))
    elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield from [node.value] if any(_SPEAKS(ast.unparse(target)) for target in targets) else []
    elif isinstance(node, ast.arguments):
        yield from (value for value in (*node.defaults, *node.kw_defaults) if value is not None)


def written_at(group: int, groups: int) -> Location | None:
    """The line of a group, where the script writes as many with rates as there are."""
    found = [
        (file, node.lineno)
        for file, node in user_nodes()
        if isinstance(node, (ast.Dict, ast.Call)) and {"params", "lr"} <= _words(node)
    ]
    return location(*sorted(found)[group]) if len(found) == groups else None


def _words(node: ast.Dict | ast.Call) -> set[str]:
    if isinstance(node, ast.Call):
        return {str(given.arg) for given in node.keywords}
    return {str(key.value) for key in node.keys if isinstance(key, ast.Constant)}
