"""Finds the calls of a `GradScaler` in the text of a script, and what stands between them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from torchmedic.facts import Crash, Location
from torchmedic.rules.errors._syntax import Code, dotted

_OWN = ("unscale_", "scale")  # methods that tell a scaler from a meter, which has `update`, or an optimizer


@dataclass(frozen=True)
class ScalerCall:
    """One call of a method of a scaler."""

    place: Location
    node: ast.Call

    @property
    def text(self) -> str:
        return f"{dotted(self.node.func)}({', '.join(ast.unparse(a) for a in self.node.args)})"


class Loop:
    """The function of a training loop in which the failing line stands, with the scaler's calls in it."""

    def __init__(self, code: Code, failing: Location) -> None:
        self.code = code
        self.failing = failing
        self.scope = code.scope(failing)
        self._names = _scalers(code)

    def calls(self, method: str) -> list[ScalerCall]:
        """Calls of a method of a scaler in this function, in the order of lines."""
        found = [
            ScalerCall(self.code.place(self.failing.file, node), node)
            for node in self.nodes()
            if isinstance(node, ast.Call) and self._is_scalers(node, method)
        ]
        return sorted(found, key=lambda call: call.place.line)

    def anywhere(self, method: str) -> bool:
        trees = self.code.trees.values()
        return any(isinstance(node, ast.Call) and self._is_scalers(node, method) for t in trees for node in ast.walk(t))

    def _is_scalers(self, node: ast.Call, method: str) -> bool:
        owner, _, name = dotted(node.func).rpartition(".")
        return name == method and owner.rpartition(".")[2] in self._names

    def condition_only_around(self, place: Location, but: Location) -> ast.If | None:
        """The innermost `if` around a line that is not around the other one."""
        ifs = [n for n in self.nodes() if isinstance(n, ast.If)]
        around = [n for n in ifs if _in_body(n, place.line) and not _in_body(n, but.line)]
        return max(around, key=lambda n: n.lineno, default=None)

    def skip_between(self, first: int, last: int) -> Location | None:
        """A `continue` between two lines: what stands after it is left out."""
        lines = [n for n in self.nodes() if isinstance(n, ast.Continue) and first < n.lineno < last]
        return self.code.place(self.failing.file, lines[0]) if lines else None

    def nodes(self) -> Iterator[ast.AST]:
        """What stands in this function itself, not in functions inside it."""
        waiting = [self.scope] if self.scope is not None else []
        while waiting:
            for child in ast.iter_child_nodes(waiting.pop()):
                yield child
                if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                    waiting.append(child)


def loop_of(crash: Crash, code: Code) -> Loop | None:
    """The innermost function on the way to the crash that updates or steps a scaler, else that of the failing line."""
    lines = [frame.location for frame in reversed(crash.frames) if frame.is_user]
    loops = [Loop(code, line) for line in lines]
    return next((loop for loop in loops if loop.calls("update")), None) or next(
        (loop for loop in loops if loop.calls("step")), loops[0] if loops else None
    )


def _scalers(code: Code) -> set[str]:
    """The last names under which scalers are known: what `GradScaler(…)` is assigned to, and what is told to scale."""
    found = set()
    for tree in code.trees.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and dotted(node.value).endswith("GradScaler"):
                found |= {dotted(target).rpartition(".")[2] for target in node.targets}
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _OWN:
                found.add(dotted(node.func.value).rpartition(".")[2])
    return found - {""}


def _in_body(statement: ast.If, line: int) -> bool:
    body = [*statement.body]
    return bool(body) and body[0].lineno <= line <= (body[-1].end_lineno or body[-1].lineno)
