"""Follows the number that a layer was built with back to the line that worked it out."""

from __future__ import annotations

import ast

from torchmedic.facts import Location, ModuleFact, Run
from torchmedic.rules.errors._following import (
    given_for,
    passed_as,
    passed_by_callers,
    written_under,
)
from torchmedic.rules.errors._reading import built_at, short_type
from torchmedic.rules.errors._syntax import Assignment, Code, dotted, path_to

_DEEPEST = 10
_AT_TOP = 10**9
_POSITIONS = {"out_features": 1, "out_channels": 1, "embedding_dim": 1, "hidden_size": 1}
Computed = Location | None


def computed_at(run: Run, layer: ModuleFact | None, setting: str) -> Location | None:
    """Where a layer's setting was worked out; None where it is written, or handed through, in plain sight."""
    built = built_at(run, layer) if layer is not None else None
    if layer is None or built is None:
        return None
    code = Code.of(run)
    given = argument_of(code, built, layer, setting)
    return number_worked_out(code, given, built) if given is not None else None


def number_worked_out(code: Code, expression: ast.expr, place: Location) -> Location | None:
    """Where the number that an expression at a place stands for was worked out, if somewhere else."""
    found = _Number(code).of_expression(expression, place, 0)
    return found if found is not None and (found.file, found.line) != (place.file, place.line) else None


def argument_of(code: Code, built: Location, layer: ModuleFact, setting: str) -> ast.expr | None:
    """What the line that builds a layer gives for one of its settings."""
    kind = short_type(layer.type)
    calls = [call for place, call in code.calls(kind) if (place.file, place.line) == (built.file, built.line)]
    call = calls[0] if len(calls) == 1 else _member(code, built, layer.path, kind)
    return given_for(call, setting, _POSITIONS.get(setting, 0)) if call is not None else None


def _member(code: Code, built: Location, path: str, kind: str) -> ast.Call | None:
    """The layer of a line with several, by its number in the `nn.Sequential` that is written there."""
    number = path.rpartition(".")[2]
    rows = [c for at, c in code.calls("Sequential") if (at.file, at.line) == (built.file, built.line)]
    if not number.isdigit() or len(rows) != 1 or any(isinstance(a, ast.Starred) for a in rows[0].args):
        return None
    member = rows[0].args[int(number)] if int(number) < len(rows[0].args) else None
    return member if isinstance(member, ast.Call) and dotted(member.func).endswith(kind) else None


class _Number:
    """Every answer is the place of an expression that computes; a number that is merely written down is no answer."""

    def __init__(self, code: Code) -> None:
        self._code = code

    def of_expression(self, expression: ast.expr, place: Location, depth: int) -> Computed:
        if depth > _DEEPEST or isinstance(expression, ast.Constant):
            return None
        if isinstance(expression, ast.Name):
            return self._of_name(expression.id, place, depth + 1)
        if isinstance(expression, ast.Attribute):
            return self._of_attribute(expression, place, depth + 1)
        if isinstance(expression, ast.Subscript) and isinstance(expression.slice, ast.Constant):
            return self._of_item(expression, depth + 1)
        return self._of_computation(expression, place, depth + 1)

    def _of_computation(self, expression: ast.expr, place: Location, depth: int) -> Computed:
        """The expression itself, or what happens inside the one function of the user's that it asks."""
        at = self._code.place(place.file, expression)
        own = [f for n in ast.walk(expression) if isinstance(n, ast.Call) and (f := self._function(n)) is not None]
        if len(own) != 1:
            return at if any(isinstance(n, (ast.BinOp, ast.Call)) for n in ast.walk(expression)) else None
        return self._of_returned(*own[0], (), depth) or at

    def _function(self, call: ast.Call) -> tuple[str, ast.FunctionDef] | None:
        word = dotted(call.func).rpartition(".")[2]
        if any(isinstance(n, ast.ClassDef) and n.name == word for t in self._code.trees.values() for n in ast.walk(t)):
            return None
        found = [
            (file, node)
            for file, tree in self._code.trees.items()
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef) and node.name == word
        ]
        return found[0] if len(found) == 1 else None

    def _of_returned(self, file: str, function: ast.FunctionDef, path: tuple[int, ...], depth: int) -> Computed:
        returns = [n for n in ast.walk(function) if isinstance(n, ast.Return) and n.value is not None]
        if len(returns) != 1 or returns[0].value is None:
            return None
        return self._of_part(returns[0].value, path, self._code.place(file, returns[0]), depth + 1)

    def _of_part(self, value: ast.expr, path: tuple[int, ...], place: Location, depth: int) -> Computed:
        if path and isinstance(value, (ast.Tuple, ast.List)) and path[0] < len(value.elts):
            return self._of_part(value.elts[path[0]], path[1:], place, depth)
        if path and isinstance(value, ast.Call):
            own = self._function(value)
            return self._of_returned(*own, path, depth) if own is not None else None
        return self.of_expression(value, place, depth) if not path else None

    def _of_name(self, name: str, place: Location, depth: int) -> Computed:
        bound = self._code.last_assignment(name, place)
        if bound is None:
            tops = (self._code.last_assignment(name, Location(file=f, line=_AT_TOP)) for f in self._code.trees)
            bound = next((b for b in tops if b is not None), None)
        return self._of_binding(bound, name, depth) if bound is not None else None

    def _of_binding(self, bound: Assignment, name: str, depth: int) -> Computed:
        if bound.how == "augment":
            return bound.location
        if bound.how == "argument" and isinstance(bound.node, ast.FunctionDef):
            return self._of_argument(bound, bound.node, name, depth)
        if bound.how != "assign" or bound.value is None:
            return None
        targets = getattr(bound.node, "targets", None) or [getattr(bound.node, "target", None)]
        path = next((p for t in targets if t is not None and (p := path_to(t, name)) is not None), ())
        return self._of_part(bound.value, path, bound.location, depth)

    def _of_argument(self, bound: Assignment, function: ast.FunctionDef, name: str, depth: int) -> Computed:
        """What the callers pass, where they agree on one computation."""
        given = passed_by_callers(self._code, bound.location, function, name)
        found = {self.of_expression(value, place, depth) for place, value in given}
        return found.pop() if len(found) == 1 else None

    def _of_attribute(self, expression: ast.Attribute, place: Location, depth: int) -> Computed:
        is_own = dotted(expression.value) == "self"
        passed = [] if is_own else list(passed_as(self._code, expression.attr))
        if passed:
            return self._only(passed, depth)
        cls = self._code.qualname(place.file, place.line).partition(".")[0] if is_own else ""
        bindings = self._code.attribute_assignments(expression.attr, cls)
        bindings = [b for b in bindings if not cls or cls in b.location.function.split(".")]
        return self._of_binding(bindings[0], dotted(expression), depth) if len(bindings) == 1 else None

    def _of_item(self, expression: ast.Subscript, depth: int) -> Computed:
        """What stands under a key, where the user's files write it once."""
        key = expression.slice.value if isinstance(expression.slice, ast.Constant) else None
        if not isinstance(key, str):
            return None
        return self._only(list(written_under(self._code, key)), depth)

    def _only(self, found: list[tuple[Location, ast.expr]], depth: int) -> Computed:
        return self.of_expression(found[0][1], found[0][0], depth) if len(found) == 1 else None
