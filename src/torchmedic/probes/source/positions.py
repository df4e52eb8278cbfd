"""The very expression a frame is evaluating, from the bytecode's position table, and the names of its operands."""

from __future__ import annotations

import ast
import dis
import functools
import linecache
from types import CodeType

_OF_LOOPS = frozenset(dis.opmap[name] for name in ("GET_ITER", "FOR_ITER"))


@functools.lru_cache(maxsize=512)
def _positions(code: CodeType) -> tuple[tuple[int | None, int | None, int | None, int | None], ...]:
    return tuple(code.co_positions())


def is_of_a_loop(code: CodeType, lasti: int) -> bool:
    """Whether an instruction begins a loop or draws its next item: since Python 3.13 it stands at the iterable."""
    return 0 <= lasti < len(code.co_code) and code.co_code[lasti] in _OF_LOOPS


@functools.lru_cache(maxsize=8192)
def expression_at(code: CodeType, lasti: int) -> str:
    """The source text of the instruction at `lasti`, on one line; empty where it cannot be told.

    For `loss = -torch.log(p).mean()` and the call of `log`, that is `torch.log(p)`. What a loop goes through has been
    evaluated by the time the loop asks it for an item.
    """
    if is_of_a_loop(code, lasti):
        return ""
    index = lasti // 2
    positions = _positions(code)
    if not 0 <= index < len(positions):
        return ""
    line, end_line, column, end_column = positions[index]
    if line is None or end_line is None or column is None or end_column is None:
        return ""
    rows = [linecache.getline(code.co_filename, n).encode() for n in range(line, end_line + 1)]
    if not rows or not rows[0]:
        return ""
    rows[-1] = rows[-1][:end_column]
    rows[0] = rows[0][column:]
    return " ".join(row.decode(errors="replace").strip() for row in rows)


@functools.lru_cache(maxsize=4096)
def operand_names(expression: str) -> tuple[str, ...]:
    """The operands of an expression as the user wrote them, in the order in which torch gets them.

    >>> operand_names("(x - mean) / std"), operand_names("p.log()"), operand_names("torch.where(m, a, b)")
    (('x - mean', 'std'), ('p',), ('m', 'a', 'b'))
    """
    node = parsed_expression(expression)
    if isinstance(node, ast.BinOp):
        return ast.unparse(node.left), ast.unparse(node.right)
    if isinstance(node, ast.UnaryOp):
        return (ast.unparse(node.operand),)
    if isinstance(node, ast.Subscript):
        return ast.unparse(node.value), ast.unparse(node.slice)
    if isinstance(node, ast.AugAssign):
        return ast.unparse(node.target), ast.unparse(node.value)
    if isinstance(node, ast.Compare):
        return (ast.unparse(node.left), *(ast.unparse(c) for c in node.comparators))
    if isinstance(node, ast.Call):
        arguments = tuple(ast.unparse(a) for a in node.args)
        if isinstance(node.func, ast.Attribute) and not _is_namespace(node.func.value):
            return (ast.unparse(node.func.value), *arguments)
        return arguments
    return ()


def called_name(expression: str) -> str:
    """The name of the function or operator at the top of an expression.

    >>> called_name("F.normalize(a, dim=1)"), called_name("a / b")
    ('normalize', '/')
    """
    node = parsed_expression(expression)
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute):
            return node.func.attr
        return ast.unparse(node.func)
    if isinstance(node, ast.BinOp):
        return _OPERATORS.get(type(node.op), "")
    if isinstance(node, ast.AugAssign):
        return _OPERATORS.get(type(node.op), "")
    return ""


_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.FloorDiv: "//",
    ast.Mod: "%",
}


def parsed_expression(expression: str) -> ast.AST | None:
    try:
        tree = ast.parse(expression, mode="eval")
    except SyntaxError:
        try:
            body = ast.parse(expression).body
        except SyntaxError:
            return None
        return body[0] if body else None
    return tree.body


def _is_namespace(node: ast.expr) -> bool:
    """`torch`, `F`, `nn.functional`, `torch.linalg`: modules by their usual names, not tensors."""
    return ast.unparse(node) in {
        "torch",
        "F",
        "nn",
        "nn.functional",
        "torch.nn.functional",
        "functional",
        "torch.linalg",
        "linalg",
        "np",
        "numpy",
        "torch.special",
        "torch.fft",
        "pd",
        "math",
        "torch.nn",
        "init",
        "nn.init",
        "T",
        "torchmedic",
    }
