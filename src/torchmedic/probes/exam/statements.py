"""The exam of statements without effect: methods named and not called, results dropped, marks never used."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from typing import Any

from torch import nn

from torchmedic.facts import DroppedResult, MarksUnused, NothingUsed, ShuffledApart, UncalledMethod
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.optimizers import Optimizers
from torchmedic.probes.exam.frame_shuffles import frames_shuffled_apart
from torchmedic.probes.exam.left_unused import results_of_nothing, unused_marks
from torchmedic.probes.exam.shuffled_pairs import shuffled_apart
from torchmedic.probes.source.expressions import function_of, parsed
from torchmedic.probes.source.frames import is_user_file, location
from torchmedic.probes.source.sources import user_files
from torchmedic.record import Probe, Recorder

_METHODS = frozenset(("zero_grad", "step", "backward", "eval", "train"))
_LEAST_STEPS = 5
_MOST_PAIRS = 4


class StatementExam(Probe):
    """Reads the sources of the run once, at its end; costs nothing in a step."""

    name = "statement-exam"

    def __init__(self, modules: Modules, optimizers: Optimizers) -> None:
        self._modules = modules
        self._optimizers = optimizers

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._is_training = False

    def on_optimizer(self, optimizer: Any) -> None:
        self._is_training = True

    def on_finish(self) -> None:
        if not self._is_training:
            return
        for file in user_files():
            tree = parsed(file)
            for owner, function, value in _statements(tree) if tree is not None else ():
                name = f"{owner}.{function}".strip(".")
                if isinstance(value, ast.Attribute) and value.attr in _METHODS:
                    self.recorder.observe(
                        UncalledMethod(
                            text=ast.unparse(value), method=value.attr, where=location(file, value.lineno, name)
                        )
                    )
                elif function == "forward" and isinstance(value, ast.Call):
                    self._look_at_layer(file, owner, value)
            pairs = itertools.chain(shuffled_apart(tree), frames_shuffled_apart(tree)) if tree is not None else iter(())
            for apart in list(itertools.islice(pairs, _MOST_PAIRS)):
                self.recorder.observe(
                    ShuffledApart(
                        text=apart.text,
                        moved=apart.moved,
                        left=apart.left,
                        where=location(file, apart.line),
                        joined=location(file, apart.joined),
                    )
                )
            for call, use in results_of_nothing(tree) if tree is not None else ():
                text, where = ast.unparse(call), location(file, call.lineno)
                self.recorder.observe(NothingUsed(text=text, method=call.func.attr, use=use, where=where))
        self._look_for_unused_marks()

    def _look_for_unused_marks(self) -> None:
        """In what surely ran: the function that calls backward, and the forwards of the models."""
        at = self.recorder.backward_at
        codes = {at[0]} if at is not None else set()
        codes |= {
            code
            for m in self._modules.alive()
            if (code := getattr(getattr(type(m), "forward", None), "__code__", None)) is not None
        }
        for code in codes:
            function = function_of(code) if is_user_file(code.co_filename) else None
            for unused in unused_marks(function) if function is not None else ():
                target = location(code.co_filename, unused.target.lineno, code.co_name) if unused.target else None
                self.recorder.observe(
                    MarksUnused(
                        name=unused.name,
                        text=unused.text,
                        function=code.co_name,
                        where=location(code.co_filename, unused.line, code.co_name),
                        target=target,
                    )
                )

    def _look_at_layer(self, file: str, owner: str, call: ast.Call) -> None:
        """Whether the result of `self.layer(x)` was the only thing its parameters were good for."""
        callee = call.func
        if not (isinstance(callee, ast.Attribute) and ast.unparse(callee.value) == "self"):
            return
        for module in self._modules.alive():
            layer = module._modules.get(callee.attr) if type(module).__name__ == owner else None
            optimizer = self._idle_in(layer) if layer is not None else None
            if layer is not None and optimizer is not None:
                self.recorder.observe(
                    DroppedResult(
                        text=ast.unparse(call),
                        owner=owner,
                        attribute=callee.attr,
                        layer=type(layer).__name__,
                        parameters=tuple(f"{callee.attr}.{name}" for name, _ in layer.named_parameters())[:8],
                        where=location(file, call.lineno, f"{owner}.forward"),
                        optimizer_built=self._optimizers.built_at(optimizer),
                    )
                )
                return

    def _idle_in(self, layer: nn.Module) -> Any:
        """The optimizer that holds all parameters of a layer and never had a gradient for any of them."""
        own = [parameter for parameter in layer.parameters() if parameter.requires_grad]
        for optimizer in self._optimizers.alive():
            held = {id(p) for group in optimizer.param_groups for p in group["params"]}
            stepped = self._optimizers.steps_of(optimizer) >= _LEAST_STEPS
            idle = all(id(p) in held and p.grad is None and p not in optimizer.state for p in own)
            # Plain SGD keeps no state, and gradients may have been cleared after the last step: others must have one.
            others = any(p.grad is not None for group in optimizer.param_groups for p in group["params"])
            if own and stepped and idle and others:
                return optimizer
        return None


def _statements(tree: ast.Module) -> Iterator[tuple[str, str, ast.expr]]:
    """The values of expression statements, with the class and the function around them."""
    waiting: list[tuple[str, str, ast.AST]] = [("", "", tree)]
    while waiting:
        owner, function, node = waiting.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                waiting.append((child.name, "", child))
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                waiting.append((owner, child.name, child))
            else:
                waiting.append((owner, function, child))
            if isinstance(child, ast.Expr):
                yield owner, function, child.value
