"""The exam of updates by hand: gradients are computed again and again, and the weights stay what they were."""

from __future__ import annotations

import ast
import weakref
from collections.abc import Iterator
from typing import Any

import torch

from torchmedic.facts import Location, UpdateOfName
from torchmedic.probes.objects.holdings import Fingerprint, leaves_of
from torchmedic.probes.source.expressions import parsed
from torchmedic.probes.source.frames import location, user_location
from torchmedic.probes.source.sources import user_files
from torchmedic.record import Probe, Recorder

_LEAST_BACKWARDS = 10
_MOST_LEAVES = 32
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class RebindingExam(Probe):
    """Keeps a print of the first leaves that backward reached; where none has moved, reads how they are updated."""

    name = "rebinding-exam"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._backwards = 0
        self._prints: list[tuple[weakref.ref[torch.Tensor], Fingerprint]] = []
        self._backward: Location | None = None

    def on_backward(self, roots: tuple[Any, ...]) -> None:
        if self.recorder.clock_is_held:
            return
        self._backwards += 1
        if self._backwards == 1:
            leaves = leaves_of(roots)[:_MOST_LEAVES]
            self._prints = [(weakref.ref(leaf), Fingerprint.of(leaf)) for leaf in leaves]
            self._backward = user_location()
        elif self._backwards >= _LEAST_BACKWARDS:
            self.recorder.rest(self)

    def on_finish(self) -> None:
        alive = [(leaf, kept) for reference, kept in self._prints if (leaf := reference()) is not None]
        if self._backwards < _LEAST_BACKWARDS or not alive or not all(kept.fits(leaf) for leaf, kept in alive):
            return
        for where, name in rebound_weights():
            self.recorder.observe(
                UpdateOfName(
                    step=self.recorder.step,
                    name=name,
                    where=where,
                    backward=self._backward,
                    backwards=self._backwards,
                    weights=len(alive),
                )
            )
            return


def rebound_weights() -> Iterator[tuple[Location, str]]:
    """Assignments to the variable of a loop over weights that nobody reads any more, in the user's files."""
    for file in user_files():
        tree = parsed(file)
        for owner, node in _loops(tree, "") if tree is not None else ():
            for name in (n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)):
                yield from ((location(file, a.lineno, owner), name) for a in _lost_updates(node, name))


def _loops(node: ast.AST, owner: str) -> Iterator[tuple[str, ast.For]]:
    """Every `for` with the name of the function it stands in."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.For):
            yield owner, child
        inner = child.name if isinstance(child, (*_FUNCTIONS, ast.ClassDef)) else ""
        yield from _loops(child, f"{owner}.{inner}".strip(".") if inner else owner)


def _lost_updates(loop: ast.For, name: str) -> Iterator[ast.Assign]:
    """`name = name - …` in a loop that reads `name.grad`, where the new value is not read afterwards."""
    nodes = [node for statement in loop.body for node in ast.walk(statement)]
    of_gradient = {id(n.value) for n in nodes if isinstance(n, ast.Attribute) and n.attr == "grad"}
    read = [n for n in nodes if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)]
    if not any(id(n) in of_gradient for n in read):
        return
    for node in nodes:
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.BinOp):
            continue
        is_own = [ast.unparse(target) for target in node.targets] == [name]
        within = {id(n) for n in ast.walk(node.value)}
        uses_itself = any(id(n) in within and id(n) not in of_gradient for n in read)
        later = [n for n in read if n.lineno > (node.end_lineno or node.lineno) and id(n) not in of_gradient]
        if is_own and uses_itself and not later:
            yield node
