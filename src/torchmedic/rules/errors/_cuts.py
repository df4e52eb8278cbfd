"""Follows a loss back through the user's code to the expression that cut it from the parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from torchmedic.facts import Crash, Frame, Location, ModelAtCrash, Run
from torchmedic.rules.errors._syntax import Assignment, Code, dotted, dotted_names

_METHODS = {
    "detach": "`.detach()` returns a tensor outside the graph",
    "item": "`.item()` returns a Python number",
    "tolist": "`.tolist()` returns Python numbers",
    "numpy": "`.numpy()` returns an array, which autograd cannot follow",
    "argmax": "`argmax` has no gradient",
    "argmin": "`argmin` has no gradient",
    "long": "`.long()` makes whole numbers, which have no gradient",
    "int": "`.int()` makes whole numbers, which have no gradient",
    "bool": "`.bool()` makes truth values, which have no gradient",
    "eq": "a comparison has no gradient",
    "gt": "a comparison has no gradient",
    "ge": "a comparison has no gradient",
    "lt": "a comparison has no gradient",
    "le": "a comparison has no gradient",
}
_FUNCTIONS = {
    "torch.tensor": "`torch.tensor` copies values and drops the graph",
    "torch.as_tensor": "`torch.as_tensor` of plain numbers has no graph",
    "torch.from_numpy": "`torch.from_numpy` starts a new tensor without graph",
    "torch.FloatTensor": "`torch.FloatTensor` copies values and drops the graph",
    "torch.argmax": "`argmax` has no gradient",
    "torch.argmin": "`argmin` has no gradient",
    "torch.eq": "a comparison has no gradient",
    "Variable": "`Variable` starts a new tensor without graph",
    "float": "`float` returns a Python number",
}
_NO_GRAD = ("no_grad", "inference_mode")
_DEEPEST = 8


@dataclass(frozen=True)
class Cut:
    """Where the graph ends: the line, the words that cut, and what was cut off."""

    location: Location
    mark: str
    why: str
    of: str


class Tracer:
    """Walks names back to the statements that bound them, in one frame and in the functions it calls."""

    def __init__(self, run: Run, crash: Crash) -> None:
        self._code = Code.of(run)
        self._frames = {(f.location.file, f.location.function): f for f in crash.frames if f.is_user}
        self._models = {m.name: m.type for m in run.all(ModelAtCrash)}
        self._fed: set[tuple[str, int, str]] = set()

    def cut(self, expression: ast.expr, place: Location, depth: int = 0) -> Cut | None:
        """The earliest cut on the way from the parameters to an expression."""
        if depth > _DEEPEST:
            return None
        for name in dotted_names([expression]):
            if self._is_attached(name, place):
                continue
            bound = self._code.last_assignment(name, place)
            if bound is not None and (found := self._cut_by(bound, depth)):
                return found
        for call in (n for n in ast.walk(expression) if isinstance(n, ast.Call)):
            if found := self._cut_in_call(call, place, depth):
                return found
        return self._cut_here(expression, place, depth)

    def plain_cut(self, expression: ast.expr, place: Location) -> Cut | None:
        """A cut round the whole value that a name was last given: whatever took part in it is cut off."""
        for _ in range(_DEEPEST):
            bound = self._code.last_assignment(ast.unparse(expression), place)
            if bound is None or bound.value is None or bound.how != "assign":
                return None
            for node, operand, mark, why in _cutters(bound.value):
                if node is bound.value and not isinstance(node, ast.Compare):
                    return Cut(bound.location, mark, why, ast.unparse(operand[0]))
            expression, place = bound.value, bound.location
        return None

    def _cut_by(self, bound: Assignment, depth: int) -> Cut | None:
        if bound.value is None or bound.how == "argument":
            return None
        if bound.how == "assign" and self.derives(bound.value, bound.location, depth + 1):
            switched_off = self._no_grad_around(bound.location)
            if switched_off is not None:
                return switched_off
        return self.cut(bound.value, bound.location, depth + 1) if bound.how in ("assign", "augment") else None

    def derives(self, expression: ast.AST, place: Location, depth: int = 0) -> bool:
        """Whether parameters take part in an expression."""
        if depth > _DEEPEST:
            return False
        for node in ast.walk(expression):
            if isinstance(node, ast.Call) and self._is_module_call(node):
                return True
        for name in dotted_names([expression]):
            if self._is_attached(name, place):
                return True
            bound = self._code.last_assignment(name, place)
            if bound is not None and (bound.location.file, bound.location.line, name) in self._fed:
                return True
            if bound is None or bound.value is None or bound.how not in ("assign", "augment", "loop"):
                continue
            if bound.location.line != place.line and self.derives(bound.value, bound.location, depth + 1):
                return True
        return False

    def _is_module_call(self, call: ast.Call) -> bool:
        name = dotted(call.func)
        if name in self._models:
            return not self._models[name].rpartition(".")[2].endswith("Loss")
        return name.startswith("self.") and name.count(".") == 1 and self._code.function(name[5:]) is None

    def _is_attached(self, name: str, place: Location) -> bool:
        frame = self._frame_at(place)
        value = frame.value(name) if frame is not None else None
        return value is not None and value.tensor is not None and value.tensor.requires_grad

    def _frame_at(self, place: Location) -> Frame | None:
        function = self._code.qualname(place.file, place.line) or "<module>"
        return self._frames.get((place.file, function))

    def _cut_in_call(self, call: ast.Call, place: Location, depth: int) -> Cut | None:
        """A cut inside the user's own function or `forward` that an expression calls."""
        name = dotted(call.func)
        cls = self._models.get(name, "").rpartition(".")[2]
        found = self._code.function("forward", cls) if cls else self._code.function(name.rpartition(".")[2])
        if found is None or (not cls and isinstance(call.func, ast.Attribute) and not name.startswith("self.")):
            return None
        file, function = found
        self._feed(file, function, call, place, depth)
        decorated = next((d for d in function.decorator_list if _switches_off(d)), None)
        if decorated is not None:
            return _off(self._code.place(file, decorated), function.name)
        for node in ast.walk(function):
            if isinstance(node, ast.Return) and node.value is not None:
                inside = self._code.place(file, node)
                off = self._no_grad_around(inside) if self.derives(node.value, inside) else None
                if found_cut := off or self.cut(node.value, inside, depth + 1):
                    return found_cut
        return None

    def _feed(self, file: str, function: ast.FunctionDef, call: ast.Call, place: Location, depth: int) -> None:
        """Remember which arguments of a function carry parameters at this call."""
        names = [a.arg for a in function.args.args if a.arg != "self"]
        for name, given in [*zip(names, call.args, strict=False), *((k.arg, k.value) for k in call.keywords)]:
            if name is not None and self.derives(given, place, depth + 1):
                self._fed.add((file, function.lineno, name))

    def _no_grad_around(self, place: Location) -> Cut | None:
        tree = self._code.trees.get(place.file)
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.With) and node.lineno < place.line <= (node.end_lineno or 0):
                for item in node.items:
                    if _switches_off(item.context_expr):
                        return _off(self._code.place(place.file, node), place.source.partition("=")[0].strip())
        return None

    def _cut_here(self, expression: ast.expr, place: Location, depth: int) -> Cut | None:
        for node, operand, mark, why in _cutters(expression):
            if any(self.derives(part, place, depth) for part in operand):
                where = self._code.place(place.file, node)
                end = getattr(node, "end_lineno", None)
                if end is not None and end != where.line and mark not in where.source:
                    where = Location(
                        file=place.file, line=end, function=where.function, source=self._code.line(place.file, end)
                    )
                return Cut(where, mark, why, ast.unparse(operand[0]))
        return None


def _cutters(expression: ast.expr) -> Iterator[tuple[ast.AST, list[ast.expr], str, str]]:
    """Innermost first: what is applied first cuts first."""
    for node in reversed(list(ast.walk(expression))):
        if isinstance(node, ast.Attribute) and node.attr == "data":
            yield node, [node.value], ".data", "`.data` is the bare tensor without graph"
        elif isinstance(node, ast.Compare):
            yield node, [node.left, *node.comparators], ast.unparse(node), "a comparison has no gradient"
        elif isinstance(node, ast.Call):
            name = dotted(node.func)
            method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            if name in _FUNCTIONS and node.args:
                yield node, [node.args[0]], name, _FUNCTIONS[name]
            elif isinstance(node.func, ast.Attribute) and method in _METHODS:
                yield node, [node.func.value], f".{method}(", _METHODS[method]
            elif name.partition(".")[0] in ("np", "numpy", "math") and node.args:
                yield node, [node.args[0]], name, f"`{name}` works outside autograd"


def _switches_off(node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and dotted(node.func).endswith("set_grad_enabled"):
        return bool(node.args) and isinstance(node.args[0], ast.Constant) and node.args[0].value is False
    return dotted(node).rpartition(".")[2] in _NO_GRAD


def _off(place: Location, of: str) -> Cut:
    word = next((w for w in (*_NO_GRAD, "set_grad_enabled") if w in place.source), "no_grad")
    return Cut(place, f"torch.{word}" if f"torch.{word}" in place.source else word, f"`{word}` is on here", of)
