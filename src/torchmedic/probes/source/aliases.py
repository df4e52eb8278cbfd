"""Finds in the user's source two names for one tensor, and a line between that writes into it in place."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import field

from torchmedic.late import late_dataclass
from torchmedic.probes.source.expressions import called_name, parsed
from torchmedic.probes.source.making_lines import own_nodes
from torchmedic.probes.source.sources import user_files

# These give the same memory back, or do so where there is nothing to convert.
_VIEWS = frozenset(
    ("view", "reshape", "flatten", "squeeze", "unsqueeze", "transpose", "permute", "t", "contiguous", "detach")
) | frozenset(("to", "cpu", "cuda", "long", "int", "float", "requires_grad_"))
_DRAWING = frozenset(
    ("rand", "rand_like", "randn", "randn_like", "randint", "randint_like", "randperm", "bernoulli", "multinomial")
) | frozenset(("random", "choice", "choices", "sample", "shuffle", "normal", "normal_", "uniform_", "bernoulli_"))
_FORM = frozenset(("shape", "size", "dim", "ndim", "numel", "device", "dtype"))
_NAMING = (ast.Name, ast.Attribute, ast.Subscript)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@late_dataclass(frozen=True)
class SharedWrite:
    """A write into `name` from which `other` is not spared; `bound` made them one, where a line of the file did.

    `is_drawn`: what is written, or where, is drawn at random, in the function or in one that calls it.
    """

    file: str
    function: str
    written: ast.stmt
    name: str
    other: str
    bound: ast.stmt | None
    is_drawn: bool


@late_dataclass()
class _Write:
    """One write in a scope, with the names that stood for the same memory by then."""

    at: ast.stmt
    written: ast.stmt
    function: str
    name: str
    group: dict[str, ast.stmt | None]


@late_dataclass()
class _Changer:
    """A function that writes into what it is given for a parameter, and which parts of its answer are that."""

    position: int
    parameter: str
    write: _Write
    returned: tuple[int | None, ...] = ()


@late_dataclass()
class _Memory:
    """Names by the memory they stand for, while a scope is read from top to bottom."""

    groups: dict[str, dict[str, ast.stmt | None]] = field(default_factory=dict)
    writes: list[_Write] = field(default_factory=list)

    def bind(self, name: str, base: str | None, at: ast.stmt) -> None:
        if name == base:
            return
        old = self.groups.pop(name, None)
        if old is not None:
            old.pop(name, None)
        if base is not None:
            group = self.groups.setdefault(base, {base: None})
            group[name] = at
            self.groups[name] = group

    def write(self, name: str, at: ast.stmt, written: ast.stmt | None = None, function: str = "") -> None:
        group = dict(self.groups.get(name, {name: None}))
        self.writes.append(_Write(at, written or at, function, name, group))


def shared_writes() -> list[SharedWrite]:
    """All of them in the user's files."""
    trees = {file: tree for file in user_files() if (tree := parsed(file)) is not None}
    changers = {
        node.name: changer
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, _FUNCTIONS) and (changer := _changer(node)) is not None
    }
    return [
        found
        for file, tree in trees.items()
        for scope in (tree, *(node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS)))
        for found in _in_scope(file, tree, scope, changers)
    ]


def _in_scope(file: str, tree: ast.AST, scope: ast.AST, changers: dict[str, _Changer]) -> Iterator[SharedWrite]:
    name = getattr(scope, "name", "")
    for write in _read(scope, changers).writes:
        after = _loaded_after(scope, write.at)
        others = [other for other in write.group if other != write.name and other in after]
        if not others or write.name not in after:
            continue
        by_changer = write.function or name
        bound = [at for at in write.group.values() if at is not None and at is not write.at]
        yield SharedWrite(
            file,
            by_changer,
            write.written,
            _name_in(write.written) or write.name,
            others[0],
            write.group[others[0]] or (bound[0] if bound else None),
            _is_drawn(tree, by_changer) or any(map(_draws, own_nodes(scope))),
        )


def _read(scope: ast.AST, changers: dict[str, _Changer]) -> _Memory:
    memory = _Memory()
    statements = [node for node in own_nodes(scope) if isinstance(node, (ast.Assign, ast.AugAssign, ast.Expr))]
    for node in sorted(statements, key=lambda statement: statement.lineno):
        if isinstance(node, ast.Assign):
            _assign(memory, node, changers)
        elif isinstance(node, ast.AugAssign):
            memory.write(_written(node.target), node)
        elif isinstance(node.value, ast.Call):
            _call(memory, node, node.value, changers)
    return memory


def _assign(memory: _Memory, node: ast.Assign, changers: dict[str, _Changer]) -> None:
    given = _changed_by(node.value, changers)
    if given is not None:
        changer, base = given
        memory.groups.setdefault(base, {base: None})
    for target in node.targets:
        if isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Constant):
            memory.write(_written(target), node)
            continue
        targets = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
        values = node.value.elts if isinstance(node.value, (ast.Tuple, ast.List)) else [node.value]
        for at, part in enumerate(targets):
            base_of_part = same_memory(values[at]) if len(values) == len(targets) else None
            if given is not None and (at if len(targets) > 1 else None) in changer.returned:
                base_of_part = base
            memory.bind(ast.unparse(part), base_of_part, node)
    if given is not None:
        group = [name for name in memory.groups.get(base, {}) if name != base]
        if group:
            memory.write(group[-1], node, changer.write.written, changer.write.function)


def _call(memory: _Memory, node: ast.Expr, call: ast.Call, changers: dict[str, _Changer]) -> None:
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    name = called_name(call)
    given = _changed_by(call, changers)
    if given is not None:
        memory.write(given[1], node, given[0].write.written, given[0].write.function)
    elif owner is not None and name.endswith("_") and not name.endswith("__") and name != "requires_grad_":
        memory.write(_written(owner), node)


def _changed_by(value: ast.expr, changers: dict[str, _Changer]) -> tuple[_Changer, str] | None:
    """The function of the user's that changes what this call gives it, and what that is."""
    changer = changers.get(called_name(value)) if isinstance(value, ast.Call) else None
    if changer is None or not isinstance(value, ast.Call) or changer.position >= len(value.args):
        return None
    base = same_memory(value.args[changer.position])
    return (changer, base) if base is not None else None


def _changer(function: ast.FunctionDef | ast.AsyncFunctionDef) -> _Changer | None:
    names = [argument.arg for argument in function.args.args]
    is_method = names[:1] == ["self"]
    for write in _read(function, {}).writes:
        for position, name in enumerate(names):
            if name in write.group and not (is_method and position == 0):
                write.function = function.name
                returned = tuple(_returned(function, write.group))
                return _Changer(position - is_method, name, write, returned)
    return None


def _returned(function: ast.AST, group: dict[str, ast.stmt | None]) -> Iterator[int | None]:
    for node in own_nodes(function):
        if isinstance(node, ast.Return) and node.value is not None:
            parts = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            for at, part in enumerate(parts):
                if same_memory(part) in group:
                    yield at if isinstance(node.value, ast.Tuple) else None


def same_memory(value: ast.expr) -> str | None:
    """The name whose memory an expression hands on as it is; None where it makes something new."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _VIEWS:
        return same_memory(value.func.value)
    if isinstance(value, ast.Attribute) and value.attr == "data":
        return same_memory(value.value)
    if isinstance(value, ast.Subscript):
        parts = value.slice.elts if isinstance(value.slice, ast.Tuple) else [value.slice]
        if any(isinstance(part, ast.Slice) for part in parts):
            return same_memory(value.value)
        return ast.unparse(value) if isinstance(value.slice, ast.Constant) else None
    return ast.unparse(value) if isinstance(value, (ast.Name, ast.Attribute)) else None


def _written(target: ast.expr) -> str:
    """The name that a target such as `ids[chosen]` writes into."""
    inner = target
    while isinstance(inner, ast.Subscript) and not isinstance(inner.slice, ast.Constant):
        inner = inner.value
    return same_memory(inner) or ast.unparse(inner)


def _name_in(statement: ast.stmt) -> str:
    """The name that a statement writes into, in the function in which it stands."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        called = statement.value.func
        return _written(called.value) if isinstance(called, ast.Attribute) else ""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
    return _written(target) if target is not None else ""


def _loaded_after(scope: ast.AST, at: ast.stmt) -> set[str]:
    """What is read below a statement for its values, and has not been bound anew by then."""
    end = at.end_lineno or at.lineno
    nodes = [node for node in own_nodes(scope) if isinstance(node, _NAMING) and node.lineno > end]
    form = {id(node.value) for node in nodes if isinstance(node, ast.Attribute) and node.attr in _FORM}
    measured = (n for n in own_nodes(scope) if isinstance(n, ast.Call) and called_name(n) == "len")
    form |= {id(argument) for call in measured for argument in call.args}
    bound = {}
    for node in sorted(nodes, key=lambda each: -each.lineno):
        if isinstance(node.ctx, ast.Store):
            bound[ast.unparse(node)] = node.lineno
    read = [(ast.unparse(n), n.lineno) for n in nodes if isinstance(n.ctx, ast.Load) and id(n) not in form]
    return {name for name, line in read if line <= bound.get(name, line)}


def _is_drawn(tree: ast.AST, function: str) -> bool:
    """Whether a function draws at random, or one that calls it does."""
    around = [node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS)] if function else []
    return any(
        (node.name == function and any(map(_draws, own_nodes(node))))
        or (
            any(isinstance(n, ast.Call) and called_name(n) == function for n in own_nodes(node))
            and any(map(_draws, own_nodes(node)))
        )
        for node in around
    )


def _draws(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and called_name(node).rpartition(".")[2] in _DRAWING
