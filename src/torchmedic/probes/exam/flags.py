"""The exam of switches that switch nothing: attributes set on modules, parameters and optimizers by a wrong name."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator
from typing import Any

from torch import nn

from torchmedic.facts import IdleSwitch
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.optimizers import Optimizers
from torchmedic.probes.exam.numbered_parts import frozen_numbers
from torchmedic.probes.source.expressions import parsed
from torchmedic.probes.source.frames import location
from torchmedic.probes.source.sources import user_nodes
from torchmedic.record import Probe, Recorder, next_of

_ROUNDING = 1e-3
_LOOKS = (1, 10, 100, 1_000, 10_000)
_FLAG = "requires_grad"
_RATE_NAMES = ("learning_rate", "learningrate", "lr")
_SETTINGS = ("lr", "learning_rate", "weight_decay", "momentum", "betas", "eps")
_ALIKE = 0.85
_SHOWN = 4


class FlagExam(Probe):
    """Looks into the attributes of what is alive, at a few steps and at the end; the source tells the line."""

    name = "flag-exam"

    def __init__(self, modules: Modules, optimizers: Optimizers) -> None:
        self._modules = modules
        self._optimizers = optimizers

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._told: set[tuple[str, int]] = set()
        self._told_lists: set[str] = set()

    def on_optimizer(self, optimizer: Any) -> None:
        # The steps of each training are looked at: a script may have several.
        self.recorder.wake(self)

    def on_step_done(self, optimizer: Any) -> None:
        steps = self._optimizers.steps_of(optimizer)
        if steps in _LOOKS and not self.recorder.clock_is_held:
            self._look()
        self.recorder.rest(self, self.recorder.step + max(1, next_of(_LOOKS, steps) - steps))

    def on_crash(self, error: BaseException) -> None:
        # Before the first step: a backward that found nothing to learn may be due to such a flag.
        if "does not require grad" in str(error):
            self._look()

    def on_finish(self) -> None:
        if self.recorder.step:
            self._look()

    def _look(self) -> None:
        held = {id(p) for o in self._optimizers.alive() for g in o.param_groups for p in g["params"]}
        for module in self._modules.alive():
            if "_parameters" in vars(module):
                self._look_at_module(module, held)
                self._look_at_parameters(module, held)
        for optimizer in self._optimizers.alive():
            self._look_at_optimizer(optimizer)
        for fact in frozen_numbers(self._modules.roots(), self.recorder.step):
            if fact.path not in self._told_lists:
                self._told_lists.add(fact.path)
                self.recorder.observe(fact)

    def _look_at_module(self, module: nn.Module, held: set[int]) -> None:
        value = vars(module).get(_FLAG)
        if not isinstance(value, bool):
            return
        own = dict(module.named_parameters())
        wrong = [name for name, p in own.items() if p.requires_grad != value and (value or id(p) in held)]
        if own and len(wrong) == len(own):
            self._tell("module", type(module).__name__, _FLAG, _FLAG + "_", value, not value, wrong)

    def _look_at_parameters(self, module: nn.Module, held: set[int]) -> None:
        found: dict[tuple[str, bool], list[str]] = {}
        for name, parameter in module.named_parameters(recurse=False):
            for key, value in vars(parameter).items():
                is_meant = isinstance(value, bool) and _is_like_flag(key)
                if is_meant and parameter.requires_grad != value and (value or id(parameter) in held):
                    found.setdefault((key, value), []).append(name)
        for (key, value), names in found.items():
            self._tell("parameter", type(module).__name__, key, _FLAG, value, not value, names)

    def _look_at_optimizer(self, optimizer: Any) -> None:
        if not type(optimizer).__module__.startswith("torch.optim") or not optimizer.param_groups:
            return
        group, kind = optimizer.param_groups[0], type(optimizer).__name__
        for key in _SETTINGS:
            meant = "lr" if key in _RATE_NAMES else key
            value = vars(optimizer).get(key)
            if isinstance(value, (int, float)) and meant in group and _are_apart(float(value), float(group[meant])):
                self._tell("optimizer", kind, key, meant, value, float(group[meant]), [])
        for key, value in group.items():
            if key in _RATE_NAMES[:2] and isinstance(value, (int, float)) and value != group.get("lr"):
                self._tell("group", kind, key, "lr", value, group.get("lr"), [])

    def _tell(
        self, of: Any, owner: str, attribute: str, meant: str, value: Any, instead: Any, parameters: list[str]
    ) -> None:
        for file, node, target in _lines(attribute, of == "group"):
            if of == "module" and ast.unparse(target.value) in _parameters_in(file):
                continue
            told = ast.literal_eval(node.value) if isinstance(node.value, ast.Constant) else value
            if told != value or (file, node.lineno) in self._told:
                continue
            self._told.add((file, node.lineno))
            self.recorder.observe(
                IdleSwitch(
                    step=self.recorder.step,
                    of=of,
                    owner=owner,
                    attribute=attribute,
                    meant=meant,
                    value=str(value),
                    instead=str(instead),
                    text=ast.unparse(node),
                    where=location(file, node.lineno),
                    target=ast.unparse(target.value),
                    count=len(parameters),
                    examples=tuple(parameters[:_SHOWN]),
                )
            )


def _are_apart(value: float, other: float) -> bool:
    """Whether two settings differ by more than rounding, as a schedule does from its own first value."""
    return abs(value - other) > _ROUNDING * max(abs(value), abs(other))


def _is_like_flag(name: str) -> bool:
    """A name that was meant to be `requires_grad`.

    >>> _is_like_flag("require_grad"), _is_like_flag("required_grad"), _is_like_flag("is_shared")
    (True, True, False)
    """
    return name != _FLAG and difflib.SequenceMatcher(None, name.lower(), _FLAG).ratio() >= _ALIKE


def _lines(attribute: str, subscript: bool) -> Iterator[tuple[str, ast.Assign, ast.Attribute | ast.Subscript]]:
    """Assignments `thing.attribute = …` (or `thing["attribute"] = …`) to something other than `self`."""
    for file, node in user_nodes():
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if not isinstance(node, ast.Assign) or ast.unparse(getattr(target, "value", ast.Constant(0))) == "self":
            continue
        fits = _key(target) if subscript else isinstance(target, ast.Attribute) and target.attr
        if fits == attribute and isinstance(target, (ast.Attribute, ast.Subscript)):
            yield file, node, target


def _parameters_in(file: str) -> set[str]:
    """Names that stand for parameters in a loop of a file: for these the attribute is the right one."""
    loops = [
        node for node in ast.walk(parsed(file) or ast.Module([], [])) if isinstance(node, (ast.For, ast.comprehension))
    ]
    targets = [node.target for node in loops if "parameters" in ast.unparse(node.iter)]
    return {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}


def _key(target: ast.expr | None) -> Any:
    is_plain = isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant)
    return target.slice.value if is_plain else None  # type: ignore[union-attr]
