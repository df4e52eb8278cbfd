"""Trials on data: bad values mended for one pass of the step, and a line of preparation tried with a safe operand."""

from __future__ import annotations

import ast
import warnings
from typing import Any

import torch

from torchmedic.replay.tables import Spoiled, spoiled

FLOOR = 1e-6
_LOGARITHMS_AND_ROOTS = frozenset({"log", "log2", "log10", "sqrt"})
_DIVISIONS = frozenset({"div", "divide", "true_divide", "truediv"})
_LARGEST_COPY = 64_000_000


class Mended:
    """Puts 0 in the place of non-finite values between enter and exit, then every bit back."""

    def __init__(self, tensors: list[torch.Tensor]) -> None:
        self._tensors = tensors
        self._before: list[torch.Tensor] = []

    def __enter__(self) -> Mended:
        # `.data` has a version counter of its own: for autograd nothing has changed.
        self._before = [tensor.detach().clone() for tensor in self._tensors]
        for tensor in self._tensors:
            tensor.data.masked_fill_(~torch.isfinite(tensor.data), 0.0)
        return self

    def __exit__(self, *error: object) -> None:
        for tensor, before in zip(self._tensors, self._before, strict=True):
            tensor.data.copy_(before)


class LineTrial:
    """One statement of the user's preparation: what it will overwrite, and the same statement made safe.

    Operands may be the very names that the statement binds (`x = x / s`), so these are kept before it runs.
    """

    def __init__(self, statement: ast.stmt, names: dict[str, Any]) -> None:
        self._value = _value_of(statement)
        self._kept: dict[str, Any] = {}
        if self._value is not None and is_treatable(self._value):
            for name in _bound(statement):
                if name in names:
                    self._kept[name] = _copied(names[name], statement)

    def helps(self, values: dict[str, Any], outer: dict[str, Any], before: Spoiled | None = None) -> str:
        """What was changed, if the statement's value is finite with it; else an empty string.

        Where the statement made infinities, cells that were missing before it may stay missing.
        """
        if self._value is None or not is_treatable(self._value):
            return ""
        scope = {**outer, **values, **self._kept, "_with_floor": with_floor, "_above_zero": above_zero}
        count = _Safer.of(self._value).met
        # One place alone, if that is enough: what is named has to be what helped.
        for only in [*range(count), None] if count > 1 else [0]:
            safer = _Safer.of(self._value, only)
            if _is_mended(safer.expression, scope, before):
                return " and ".join(safer.changes)
        return ""


def _is_mended(expression: ast.Expression, scope: dict[str, Any], before: Spoiled | None) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what NumPy says of a try that does not help
            result = eval(compile(ast.fix_missing_locations(expression), "<trial>", "eval"), scope)
    except Exception:  # noqa: BLE001 - a line that cannot be tried apart from its script is not tried
        return False
    after = spoiled(result, depth=3)
    only_missing = before is not None and before.bad > before.nan and after is not None and after.bad == after.nan
    return after is None or only_missing


class _Safer(ast.NodeTransformer):
    """Gives divisors a floor, and logarithms and roots an argument above 0: all of them, or the one of a number."""

    expression: ast.Expression

    def __init__(self, only: int | None = None) -> None:
        self._only = only
        self.met = 0
        self.changes: list[str] = []

    @classmethod
    def of(cls, value: ast.expr, only: int | None = None) -> _Safer:
        """A copy of an expression, made safe."""
        safer = cls(only)
        safer.expression = ast.Expression(safer.visit(ast.parse(ast.unparse(value), mode="eval").body))
        return safer

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Div) and not isinstance(node.right, ast.Constant):
            change = f"divide by `{_short(node.right)}` with a floor of {FLOOR:g}"
            node.right = self._with("_with_floor", node.right, change)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in _LOGARITHMS_AND_ROOTS and node.args:
            change = f"keep `{_short(node.args[0])}` above 0, with a floor of {FLOOR:g}"
            node.args[0] = self._with("_above_zero", node.args[0], change)
        elif name in _DIVISIONS and node.args:
            change = f"divide by `{_short(node.args[-1])}` with a floor of {FLOOR:g}"
            node.args[-1] = self._with("_with_floor", node.args[-1], change)
        return node

    def _with(self, function: str, operand: ast.expr, change: str) -> ast.expr:
        self.met += 1
        if self._only not in (None, self.met - 1):
            return operand
        self.changes.append(change)
        return ast.Call(func=ast.Name(id=function, ctx=ast.Load()), args=[operand], keywords=[])


def is_treatable(node: ast.AST) -> bool:
    """Whether a piece of code divides, or takes a logarithm or a root."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Div):
            return True
        if isinstance(inner, ast.Call):
            name = inner.func.attr if isinstance(inner.func, ast.Attribute) else getattr(inner.func, "id", "")
            if name in _LOGARITHMS_AND_ROOTS | _DIVISIONS:
                return True
    return False


def with_floor(divisor: Any) -> Any:
    """A divisor whose zeros, and what is nearly zero, became a small number."""
    return _replaced(divisor, abs(divisor) < FLOOR)


def above_zero(argument: Any) -> Any:
    return _replaced(argument, argument < FLOOR)


def _replaced(value: Any, small: Any) -> Any:
    if isinstance(value, (int, float)):
        return FLOOR if small else value
    if isinstance(value, torch.Tensor):
        return torch.where(small, torch.full_like(value, FLOOR), value)
    if hasattr(value, "mask"):  # pandas
        return value.mask(small, FLOOR)
    return value * ~small + FLOOR * small  # numpy


def _value_of(statement: ast.stmt) -> ast.expr | None:
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        left = ast.Name(id=statement.target.id, ctx=ast.Load())
        return ast.BinOp(left=left, op=statement.op, right=statement.value)
    return statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Return)) else None


def _bound(statement: ast.stmt) -> set[str]:
    """Names that a statement rebinds or whose object it writes into."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return {n.id for t in targets if t is not None for n in ast.walk(t) if isinstance(n, ast.Name)}


def _copied(value: Any, statement: ast.stmt) -> Any:
    """The old object is enough where the name is bound to a new one; what is written into has to be copied."""
    in_place = isinstance(statement, ast.AugAssign) or (
        isinstance(statement, ast.Assign) and any(isinstance(t, ast.Subscript) for t in statement.targets)
    )
    size = getattr(value, "size", 0)
    if not in_place or not hasattr(value, "copy") or not isinstance(size, int) or size > _LARGEST_COPY // 8:
        return value
    return value.copy()


def _short(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 40 else text[:39].rstrip() + "…"
