"""The exam of gradient reversal: functions of the user's that negate the gradient, and let it through as it came."""

from __future__ import annotations

import ast
from dataclasses import field
from typing import Any

import torch

from torchmedic.facts import Location, ReversedTwice
from torchmedic.late import late_dataclass
from torchmedic.probes.graph.graph_walk import graph
from torchmedic.probes.source.expressions import parsed
from torchmedic.probes.source.frames import file_of, is_user_file, location
from torchmedic.probes.source.sources import user_nodes
from torchmedic.record import Probe, Recorder, next_of

_LOOKED_AT = (3, 12, 40, 100, 250)
_SAME = frozenset(("view_as", "clone", "view", "alias"))


@late_dataclass()
class _Reversal:
    """A class of the user's, the line that negates, and by what the gradient was multiplied at each look."""

    name: str
    where: Location
    text: str
    factors: list[float] = field(default_factory=list)
    settings: dict[str, float] = field(default_factory=dict)


class ReversalExam(Probe):
    """Hooks the nodes of such functions in the graph of a few steps."""

    name = "reversal-exam"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._seen: dict[type, _Reversal | None] = {}
        self._has_functions: bool | None = None

    def on_backward(self, roots: tuple[Any, ...]) -> None:
        if self.recorder.step not in _LOOKED_AT or self.recorder.clock_is_held:
            return
        if self._has_functions is None:
            self._has_functions = _has_functions()
        tensors = tuple(root for root in roots if isinstance(root, torch.Tensor))
        for node in {following for _, following in graph(tensors)} if self._has_functions else ():
            kind = getattr(node, "_forward_cls", None)
            if kind is not None and kind not in self._seen:
                self._seen[kind] = _reversal(kind)
            known = self._seen.get(kind) if kind is not None else None
            if known is not None:
                known.settings = _settings(node, known.text)
                node.register_hook(_measure(known))

    def on_step_done(self, optimizer: Any) -> None:
        step = self.recorder.step
        until = next_of(_LOOKED_AT, step) if self._has_functions is not False else next_of((), step)
        if step not in _LOOKED_AT:
            self.recorder.rest(self, until)

    def on_finish(self) -> None:
        for known in self._seen.values():
            factors = [factor for factor in (known.factors if known is not None else ()) if abs(factor) > 1e-6]
            if known is not None and factors:
                self.recorder.observe(
                    ReversedTwice(
                        step=self.recorder.step,
                        function=known.name,
                        where=known.where,
                        factors=tuple(factors),
                        settings=known.settings,
                    )
                )


def _has_functions() -> bool:
    """Whether the script writes functions of autograd at all."""
    classes = (node for _, node in user_nodes() if isinstance(node, ast.ClassDef))
    return any(ast.unparse(base).endswith("Function") for cls in classes for base in cls.bases)


def _measure(known: _Reversal) -> Any:
    def hook(inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
        given, gave = outputs[0], inputs[0]
        if isinstance(given, torch.Tensor) and isinstance(gave, torch.Tensor) and given.shape == gave.shape:
            size = float((given.detach().double() ** 2).sum())
            if size > 0:
                known.factors.append(float((given.detach().double() * gave.detach().double()).sum()) / size)

    return hook


def _reversal(kind: type) -> _Reversal | None:
    """A function that hands on its input as it is, and whose `backward` negates."""
    file = file_of(kind)
    tree = parsed(file) if file and is_user_file(file) else None
    for cls in ast.walk(tree) if tree is not None else ():
        if isinstance(cls, ast.ClassDef) and cls.name == kind.__name__:
            methods = {part.name: part for part in cls.body if isinstance(part, ast.FunctionDef)}
            if {"forward", "backward"} <= methods.keys() and _hands_on(methods["forward"]):
                found = _negation(methods["backward"])
                if found is not None:
                    where = location(file, found.lineno, f"{cls.name}.backward")
                    return _Reversal(cls.name, where, ast.unparse(methods["backward"]))
    return None


def _hands_on(forward: ast.FunctionDef) -> bool:
    given = forward.args.args[1].arg if len(forward.args.args) > 1 else ""
    returned = [node.value for node in ast.walk(forward) if isinstance(node, ast.Return)]
    return len(returned) == 1 and returned[0] is not None and _is_given(returned[0], given)


def _is_given(value: ast.expr, given: str) -> bool:
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _SAME:
        value = value.func.value
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult) and ast.unparse(value.right) in ("1", "1.0"):
        value = value.left
    return isinstance(value, ast.Name) and value.id == given


def _negation(backward: ast.FunctionDef) -> ast.expr | None:
    for node in ast.walk(backward):
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return node
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("neg", "neg_"):
            return node
    return None


def _settings(node: Any, text: str) -> dict[str, float]:
    """Numbers that `forward` left for `backward`: they are attributes of the node."""
    held = {name: value for name, value in getattr(node, "__dict__", {}).items() if f".{name}" in text}
    return {name: float(value) for name, value in held.items() if isinstance(value, (int, float))}
