"""Where the script's files add, subtract and multiply, and which of these lines small integers may come to."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator

from torchmedic.late import late_dataclass
from torchmedic.probes.source.called_functions import bound_at
from torchmedic.probes.source.expressions import called_name, parsed
from torchmedic.probes.source.sources import user_files

OPERATORS: dict[type[ast.operator], str] = {ast.Sub: "-", ast.Add: "+", ast.Mult: "*"}
_CALLED: dict[str, type[ast.operator]] = {
    **dict.fromkeys(("subtract", "sub"), ast.Sub),
    "add": ast.Add,
    **dict.fromkeys(("multiply", "mul"), ast.Mult),
}
_LIBRARIES = ("np", "numpy", "torch")
_SMALL_WORDS = frozenset(("uint8", "int8", "uint16", "int16", "byte", "ubyte", "ByteTensor", "imread", "read_image"))
_WIDE_WORDS = ("mean", "std", "float", "astype", "int(", "len(", "int64", "int32", "shape", "/", ".0", "math.")
_LEAST_CONSTANT = 8  # what is less is a step to a neighbour, not a change of brightness
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_INNER = (*_FUNCTIONS, ast.ClassDef, ast.Lambda)


@late_dataclass(frozen=True)
class Arithmetic:
    """A sum, difference or product as `left operator right`, its text, and the name that its result is given."""

    target: str
    node: ast.BinOp
    text: str

    @property
    def line(self) -> int:
        return self.node.lineno


def arithmetic_in(scope: ast.AST, inner: tuple[type[ast.AST], ...] = _INNER) -> list[Arithmetic]:
    """Sums, differences and products in a function (not in functions inside it)."""
    found: list[Arithmetic] = []
    waiting: list[tuple[str, ast.AST]] = [("", child) for child in ast.iter_child_nodes(scope)]
    while waiting:
        target, node = waiting.pop()
        if isinstance(node, inner):
            continue
        if isinstance(node, ast.Assign):
            target = ast.unparse(node.targets[0])
        operation = _operation(node)
        if operation is not None:
            found.append(Arithmetic(target, operation, ast.unparse(node)))
        waiting += [(target, child) for child in ast.iter_child_nodes(node)]
    return found


def _operation(node: ast.AST) -> ast.BinOp | None:
    if isinstance(node, ast.BinOp):
        return node if type(node.op) in OPERATORS else None
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    if ast.unparse(node.func.value) not in _LIBRARIES:
        return None
    kind = _CALLED.get(node.func.attr)
    return (
        ast.copy_location(ast.BinOp(node.args[0], kind(), node.args[1]), node) if kind and len(node.args) > 1 else None
    )


@functools.lru_cache(maxsize=64)
def arithmetic_of(file: str) -> dict[int, list[Arithmetic]]:
    """All of a file, functions inside of functions as well, by line."""
    tree = parsed(file)
    found: dict[int, list[Arithmetic]] = {}
    for each in arithmetic_in(tree, ()) if tree is not None else ():
        found.setdefault(each.line, []).append(each)
    return found


def still_bound(each: Arithmetic, scope: ast.AST) -> bool:
    """Whether nothing in a function gives the operands another value, at that line or after it."""
    bound = bound_at(scope)
    parts = (part for side in (each.node.left, each.node.right) for part in ast.walk(side))
    names = {ast.unparse(part) for part in parts if isinstance(part, (ast.Name, ast.Attribute))}
    return not any(bound.get(name, 0) >= each.line for name in names)


def suspects() -> Iterator[tuple[str, int]]:
    """Lines of the script's functions whose operands may be small integers, in a script that speaks of such."""
    trees = [(file, tree) for file in user_files() if (tree := parsed(file)) is not None]
    if not any(_words(node) & _SMALL_WORDS for _, tree in trees for node in ast.walk(tree)):
        return
    for file, tree in trees:
        for function in (node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS)):
            if function.name != "forward":
                found = (each for each in arithmetic_in(function) if id(each.node) not in _indices(function))
                yield from ((file, each.line) for each in found if _may_be_small(each, function))


def _indices(function: ast.AST) -> set[int]:
    """What stands in brackets behind a name: positions, which are counted with wide integers."""
    brackets = (node.slice for node in ast.walk(function) if isinstance(node, ast.Subscript))
    return {id(node) for bracket in brackets for node in ast.walk(bracket)}


def _words(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Attribute):
        return {node.attr}
    return {node.value} if isinstance(node, ast.Constant) and isinstance(node.value, str) else set()


def _may_be_small(each: Arithmetic, function: ast.AST) -> bool:
    sides = each.node.left, each.node.right
    if any(word in ast.unparse(side) for side in sides for word in _WIDE_WORDS):
        return False
    is_product = isinstance(each.node.op, ast.Mult)
    constants = [side.value for side in sides if isinstance(side, ast.Constant)]
    if any(is_product or type(value) is not int or abs(value) < _LEAST_CONSTANT for value in constants):
        return False
    return all(isinstance(side, (ast.Constant, ast.Name, ast.Subscript, ast.Attribute)) for side in sides) and not any(
        _widens(node, _base(side)) for side in sides for node in ast.walk(function)
    )


def _base(side: ast.expr) -> str:
    while isinstance(side, (ast.Subscript, ast.Attribute)):
        side = side.value
    return side.id if isinstance(side, ast.Name) else ""


def _widens(node: ast.AST, name: str) -> bool:
    """Whether a statement gives a name a wide value: `x = x.astype(...)`, `x = x / 255`, `for x in range(...)`."""
    if isinstance(node, ast.For):
        counts = isinstance(node.iter, ast.Call) and called_name(node.iter) == "range"
        return counts and ast.unparse(node.target) == name
    if not isinstance(node, ast.Assign) or not any(ast.unparse(target) == name for target in node.targets):
        return False
    return isinstance(node.value, ast.Constant) or any(word in ast.unparse(node.value) for word in _WIDE_WORDS)
