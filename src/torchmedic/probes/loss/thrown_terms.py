"""Terms that were added to a loss whose name was then given to something else: `loss += a`, and later `loss = b`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import torch

from torchmedic.facts import ThrownTerms
from torchmedic.probes.graph.calls import Call, CallTrace
from torchmedic.probes.source.expressions import parsed
from torchmedic.record import Recorder

_SUMS = frozenset(("add", "radd", "iadd"))
_MOST = 8


class ThrownTermsExam:
    """After a backward: which sums of the step does its loss not hold?"""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._told: set[tuple[str, int]] = set()

    def close(self, trace: CallTrace, roots: tuple[Any, ...]) -> None:
        held = trace.ancestors(*(trace.maker_of(root) for root in roots if isinstance(root, torch.Tensor)))
        if not held or len(self._told) >= _MOST:
            return
        for call in trace.calls:
            place = call.place
            is_sum = call.name in _SUMS and call.shape == () and any(read.requires_grad for read in call.reads)
            if is_sum and call.index not in held and place is not None:
                self._look(trace, held, call)

    def _look(self, trace: CallTrace, held: set[int], call: Call) -> None:
        """The sum belongs to `name += …`; its name is given anew, unread, on a line that the loss does hold."""
        assert call.place is not None
        code, line = call.place.code, call.place.line
        function = _function_at(code.co_filename, code.co_firstlineno, code.co_name)
        name = _added_to(function, line) if function is not None else None
        again = _given_anew(function, name, line) if function is not None and name is not None else None
        kept = [trace.calls[index] for index in held]
        made = next(
            (c for c in kept if again and c.place and c.place.code is code and _spans(again, c.place.line)), None
        )
        if name is None or again is None or made is None or made.place is None:
            return
        key = (code.co_filename, again.lineno)
        if key not in self._told:
            self._told.add(key)
            self._recorder.observe(
                ThrownTerms(
                    step=self._recorder.step,
                    name=name,
                    text=ast.unparse(again),
                    where=made.place.location(),
                    added=call.place.location(),
                )
            )


def _function_at(file: str, first: int, name: str) -> ast.AST | None:
    tree = parsed(file)
    if tree is None or name == "<module>":
        return tree
    found = (n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)) and n.name == name)
    return next((n for n in found if n.lineno <= first + len(n.decorator_list) and first <= n.lineno), None)


def _added_to(function: ast.AST, line: int) -> str | None:
    """The name that a statement `name += …` on this line adds to."""
    for node in ast.walk(function):
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and _spans(node, line):
            return node.target.id if isinstance(node.target, ast.Name) else None
    return None


def _given_anew(function: ast.AST, name: str, line: int) -> ast.Assign | None:
    """The next statement after a line that gives the name to something else, if nobody has read it until then."""
    later = sorted(_assignments(function, name), key=lambda node: node.lineno)
    again = next((node for node in later if node.lineno > line), None)
    if again is None or any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(again.value)):
        return None
    reads = [n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)]
    return None if any(line < n.lineno < again.lineno for n in reads) else again


def _assignments(function: ast.AST, name: str) -> Iterator[ast.Assign]:
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Name) and target.id == name:
                yield node


def _spans(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)
