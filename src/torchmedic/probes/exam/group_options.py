"""The exam of optimizer groups: options nobody reads, rates forgotten, doubled or 0, frozen parameters that move."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from torchmedic.facts import GroupRates, Location, RateScaledTwice, UnknownGroupOption
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.exam.freezes import FreezeExam
from torchmedic.probes.exam.frozen_moving import FrozenMoving
from torchmedic.probes.exam.rate_factors import scaled_twice
from torchmedic.probes.exam.still_groups import StillGroups
from torchmedic.probes.source.expressions import called_name
from torchmedic.probes.source.frames import location, user_location
from torchmedic.probes.source.sources import user_nodes
from torchmedic.record import Probe, Recorder

_MOST = 8
_GROUP_RATE = re.compile(r"\S*param_groups\[-?\d+\]\[['\"]lr['\"]\]")


class GroupOptionExam(Probe):
    """Looks at the groups of an optimizer when it is built, and at the end for a line that reads their options."""

    name = "group-option-exam"

    def __init__(self, modules: Modules, freezes: FreezeExam) -> None:
        self._modules = modules
        self._freezes = freezes

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._frozen = FrozenMoving(self._freezes.frozen_at)
        self._is_looking = False
        self._seen: dict[str, UnknownGroupOption] = {}
        self._scaled: RateScaledTwice | None = None
        self._still = StillGroups()
        self._rates: dict[int, tuple[str, tuple[float, ...], tuple[float, ...]]] = {}

    def on_optimizer(self, optimizer: Any) -> None:
        self._rates[id(optimizer)] = (type(optimizer).__name__, _rates(optimizer), ())
        if _rates(optimizer) and self._scaled is None:
            self._scaled = scaled_twice(optimizer, sys._getframe(1))
        self._still.begin(optimizer, user_location())
        self.recorder.wake(self)
        for option, values in _unknown(optimizer).items():
            if len(self._seen) < _MOST and option not in self._seen and not _is_read_by(optimizer, option):
                self._seen[option] = UnknownGroupOption(
                    optimizer=type(optimizer).__name__,
                    option=option,
                    values=tuple(sorted(values))[:4],
                    groups=len(optimizer.param_groups),
                    rates=tuple(sorted({float(g["lr"]) for g in optimizer.param_groups if "lr" in g}))[:4],
                    built=user_location(),
                )

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        known = self._rates.get(id(optimizer))
        if known is not None and len(known[1]) > 1:
            self._rates[id(optimizer)] = (*known[:2], _rates(optimizer))
            self._still.look(optimizer, _rates(optimizer), self._modules.roots)
        if not self.recorder.clock_is_held:
            self._frozen.look(optimizer)
            self._is_looking = True

    def on_step_done(self, optimizer: Any) -> None:
        # A rest ends behind a step: the next one is looked at from its beginning.
        if self._is_looking and not self.recorder.clock_is_held:
            self._is_looking = False
            step = self.recorder.step
            self._frozen.compare(optimizer, step, self._modules.roots)
            self.recorder.rest(self, until=step + max(1, step // 4))

    def on_finish(self) -> None:
        for fact in (self._frozen.fact, self._scaled if self.recorder.step else None):
            if fact is not None:
                self.recorder.observe(fact)
        for still in self._still.facts():
            self.recorder.observe(still)
        for kind, first, last in self._rates.values():
            left = [now for before, now in zip(first, last, strict=False) if now == before]
            if len(first) == len(last) and len(set(first)) == 1 and 0 < len(left) < len(last):
                where = _fixed_index()
                if where is not None:
                    self.recorder.observe(GroupRates(optimizer=kind, first=first, last=last, where=where))
        for option, seen in self._seen.items():
            written = next(_written(option), None)
            if written is not None and not _is_read(option):
                file, line = written
                self.recorder.observe(replace(seen, where=location(file, line)))


def _rates(optimizer: Any) -> tuple[float, ...]:
    """The rates of the groups, where they are numbers."""
    rates = [group.get("lr") for group in optimizer.param_groups]
    return tuple(float(rate) for rate in rates) if all(isinstance(rate, (int, float)) for rate in rates) else ()


def _fixed_index() -> Location | None:
    """A loop that sets the rate of a group by a number, and not by what it counts."""
    for file, loop in user_nodes():
        if not isinstance(loop, ast.For):
            continue
        counted = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
        for node in (inner for part in loop.body for inner in ast.walk(part)):
            if isinstance(node, ast.Assign) and _GROUP_RATE.fullmatch(ast.unparse(node.targets[0])):
                used = {inner.id for inner in ast.walk(node.targets[0]) if isinstance(inner, ast.Name)}
                if not counted & used and _speaks_of_groups(loop):
                    return location(file, node.lineno)
    return None


def _speaks_of_groups(loop: ast.For) -> bool:
    """Whether setting rates is all that the loop does: a loop over batches sets them too."""
    return all(
        isinstance(part, ast.Assign) and _GROUP_RATE.fullmatch(ast.unparse(part.targets[0])) for part in loop.body
    )


def _unknown(optimizer: Any) -> dict[str, set[float]]:
    """Options with different numbers in different groups that the optimizer has no default for."""
    found: dict[str, set[float]] = {}
    for group in optimizer.param_groups:
        for option, value in group.items():
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if isinstance(option, str) and is_number and option not in optimizer.defaults and option != "initial_lr":
                found.setdefault(option, set()).add(float(value))
    return {option: values for option, values in found.items() if values != {1.0}}


def _is_read_by(optimizer: Any, option: str) -> bool:
    """Whether the file of the optimizer's class, or a library of schedules, speaks of the option."""
    try:
        source = inspect.getsource(sys.modules[type(optimizer).__module__])
    except (KeyError, OSError, TypeError):
        return True
    return f'"{option}"' in source or f"'{option}'" in source or (option == "lr_scale" and "timm" in sys.modules)


def _written(option: str) -> Iterator[tuple[str, int]]:
    """Where a group is given the option: `{"params": …, "option": …}` or `dict(params=…, option=…)`."""
    for file, node in user_nodes():
        if isinstance(node, ast.Dict):
            names = [key.value for key in node.keys if isinstance(key, ast.Constant)]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "dict":
            names = [keyword.arg for keyword in node.keywords]
        else:
            continue
        if option in names and "params" in names:
            yield file, node.lineno


def _is_read(option: str) -> bool:
    """Whether the script itself makes something of it: a subscript, or a name handed to `get`."""
    for _, node in user_nodes():
        key = node.slice if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) else None
        if isinstance(node, ast.Call) and node.args and called_name(node) in ("get", "pop", "itemgetter"):
            key = node.args[0]
        if isinstance(key, ast.Constant) and key.value == option:
            return True
    return False
