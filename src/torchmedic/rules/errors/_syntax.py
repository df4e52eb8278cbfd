"""Reads the syntax of the user's files as they were recorded at the crash."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from torchmedic.facts import Location, Run, SourceFile

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True)
class Assignment:
    """A statement that binds a name: `how` is "assign", "augment", "loop", "with" or "argument"."""

    location: Location
    how: str
    node: ast.AST
    value: ast.expr | None = None


class Code:
    """The user's files, parsed; every answer carries a Location that a diagnosis can point at."""

    def __init__(self, sources: dict[str, str]) -> None:
        self.texts = sources
        self.trees = {file: tree for file, text in sources.items() if (tree := _parsed(text)) is not None}

    @classmethod
    def of(cls, run: Run) -> Code:
        return cls({seen.file: seen.text for seen in run.all(SourceFile)})

    def place(self, file: str, node: ast.AST) -> Location:
        """The Location of a node."""
        line = getattr(node, "lineno", 1)
        return Location(file=file, line=line, function=self.qualname(file, line), source=self.line(file, line))

    def line(self, file: str, number: int) -> str:
        lines = self.texts.get(file, "").splitlines()
        return lines[number - 1] if 0 < number <= len(lines) else ""

    def scopes(self, file: str, line: int) -> list[ast.AST]:
        """The classes and functions around a line, outermost first."""
        tree = self.trees.get(file)
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        found = [n for n in ast.walk(tree) if isinstance(n, kinds) and _covers(n, line)] if tree else []
        found.sort(key=lambda n: n.lineno)
        return [*found]

    def qualname(self, file: str, line: int) -> str:
        return ".".join(getattr(scope, "name", "") for scope in self.scopes(file, line))

    def scope(self, place: Location) -> ast.AST | None:
        """The innermost function around a place, else the whole file."""
        functions = [s for s in self.scopes(place.file, place.line) if not isinstance(s, ast.ClassDef)]
        return functions[-1] if functions else self.trees.get(place.file)

    def statement(self, place: Location) -> ast.stmt | None:
        """The innermost statement that covers a line."""
        tree = self.trees.get(place.file)
        covering = [n for n in ast.walk(tree) if isinstance(n, ast.stmt) and _covers(n, place.line)] if tree else []
        return min(covering, key=lambda n: (n.end_lineno or n.lineno) - n.lineno, default=None)

    def statements(self, place: Location) -> list[ast.stmt]:
        """The statements on a line; several where it is written with semicolons."""
        inner = self.statement(place)
        tree = self.trees.get(place.file)
        if inner is None or tree is None or inner.lineno != inner.end_lineno:
            return [inner] if inner is not None else []
        return [n for n in ast.walk(tree) if isinstance(n, ast.stmt) and n.lineno == n.end_lineno == inner.lineno]

    def names(self, place: Location) -> tuple[str, ...]:
        """The dotted names read by the statements on a line, in the order of writing."""
        return dotted_names([part for statement in self.statements(place) for part in header(statement)])

    def stores_into(self, name: str) -> list[Location]:
        """Lines that put something into a container: `name[…] = …`, `name.append(…)`; `name` may be an attribute."""
        found: list[Location] = []
        for file, tree in self.trees.items():
            for node in ast.walk(tree):
                if isinstance(node, ast.Assign):
                    filled = any(isinstance(t, ast.Subscript) and _ends_in(t, name) for t in node.targets)
                else:
                    filled = (
                        isinstance(node, ast.Call)
                        and isinstance(node.func, ast.Attribute)
                        and node.func.attr in ("append", "extend", "appendleft", "insert")
                        and _ends_in(node.func.value, name)
                    )
                if filled:
                    found.append(self.place(file, node))
        return found

    def assignments(self, name: str, place: Location) -> list[Assignment]:
        """What binds a (dotted) name in the function around a place, in the order of lines."""
        scope = self.scope(place)
        found = list(_bindings(self, place.file, scope, name)) if scope is not None else []
        return sorted(found, key=lambda a: a.location.line)

    def last_assignment(self, name: str, place: Location) -> Assignment | None:
        """The binding of a name that reaches a line: the last one above it, else the last one of a loop below it."""
        found = self.assignments(name, place)
        # A function may be written in one line with its body.
        above = [a for a in found if a.location.line < place.line or a.how == "argument"]
        return above[-1] if above else (found[-1] if found and found[-1].location.line != place.line else None)

    def item_assignments(self, name: str, place: Location) -> list[Location]:
        """Every `name[…] = …` in the function around a place, in the order of lines."""
        scope = self.scope(place)
        found = [
            node
            for node in (_inside(scope, deep=False) if scope is not None else ())
            if isinstance(node, ast.Assign)
            and any(isinstance(t, ast.Subscript) and dotted(t) == name for t in node.targets)
        ]
        return sorted((self.place(place.file, n) for n in found), key=lambda p: p.line)

    def attribute_assignments(self, attribute: str, cls: str = "") -> list[Assignment]:
        """Every `anything.attribute = …` in the user's files; those inside the class `cls` come first."""
        found = [
            binding
            for file, tree in self.trees.items()
            for binding in _bindings(self, file, tree, attribute, any_owner=True, deep=True)
        ]
        return sorted(found, key=lambda a: cls not in a.location.function.split(".") if cls else False)

    def calls(self, *endings: str) -> Iterator[tuple[Location, ast.Call]]:
        """Every call of a function whose dotted name ends in one of these."""
        for file, tree in self.trees.items():
            for node in ast.walk(tree):
                if isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] in endings:
                    yield self.place(file, node), node

    def function(self, name: str, cls: str = "") -> tuple[str, ast.FunctionDef] | None:
        """A function of the user's files by its name, or a method of a class."""
        for file, tree in self.trees.items():
            for node in ast.walk(tree):
                if cls and isinstance(node, ast.ClassDef) and node.name == cls:
                    methods = (m for m in node.body if isinstance(m, ast.FunctionDef) and m.name == name)
                    if (method := next(methods, None)) is not None:
                        return file, method
                elif not cls and isinstance(node, ast.FunctionDef) and node.name == name:
                    return file, node
        return None


@functools.lru_cache(maxsize=64)
def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


def _covers(node: ast.AST, line: int) -> bool:
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])  # type: ignore[attr-defined]
    return bool(first <= line <= (node.end_lineno or node.lineno))  # type: ignore[attr-defined]


def dotted(node: ast.AST) -> str:
    """`self.net.fc` for an attribute chain of names; calls and subscripts in between are dropped.

    >>> dotted(ast.parse("model.head(x)").body[0].value.func)
    'model.head'
    """
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{owner}.{node.attr}" if (owner := dotted(node.value)) else node.attr
    if isinstance(node, (ast.Subscript, ast.Starred)):
        return dotted(node.value)
    return dotted(node.func) if isinstance(node, ast.Call) else ""


def _ends_in(node: ast.AST, name: str) -> bool:
    """Whether a chain is a variable of this name, or ends in an attribute of it."""
    chain = dotted(node)
    return chain == name or chain.endswith(f".{name}")


def header(statement: ast.AST) -> list[ast.AST]:
    """The part of a statement that runs on its own line: not the body of a loop or `with`."""
    if isinstance(statement, (ast.For, ast.AsyncFor)):
        return [statement.iter]
    if isinstance(statement, (ast.While, ast.If)):
        return [statement.test]
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return [item.context_expr for item in statement.items]
    return [statement]


def dotted_names(nodes: Iterable[ast.AST]) -> tuple[str, ...]:
    """Every name and attribute chain that is read, longest form first, without doubles."""
    found = [
        (n.lineno, n.col_offset, -len(name), name)
        for node in nodes
        for n in ast.walk(node)
        if isinstance(n, (ast.Name, ast.Attribute)) and (name := dotted(n))
    ]
    return tuple(dict.fromkeys(name for *_, name in sorted(found)))


def path_to(target: ast.AST, name: str) -> tuple[int, ...] | None:
    """The indices under which a name stands in a target: (1, 0) for `x` in `i, (x, y)`."""
    if isinstance(target, (ast.Tuple, ast.List)):
        for i, item in enumerate(target.elts):
            inner = path_to(item, name)
            if inner is not None:
                return (i, *inner)
        return None
    return () if dotted(target) == name else None


def _inside(scope: ast.AST, deep: bool) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(scope):
        yield child
        if deep or not isinstance(child, (*_FUNCTIONS, ast.ClassDef)):
            yield from _inside(child, deep)


def _bindings(
    code: Code, file: str, scope: ast.AST, name: str, any_owner: bool = False, deep: bool = False
) -> Iterator[Assignment]:
    arguments = getattr(scope, "args", None)
    if isinstance(arguments, ast.arguments) and not any_owner and name in {a.arg for a in _every_argument(arguments)}:
        yield Assignment(code.place(file, scope), "argument", scope)
    for node in _inside(scope, deep):
        for target, how, value in _targets(node):
            if _binds(target, name, any_owner):
                yield Assignment(code.place(file, node), how, node, value)


def _targets(node: ast.AST) -> Iterator[tuple[ast.expr, str, ast.expr | None]]:
    if isinstance(node, ast.Assign):
        yield from ((target, "assign", node.value) for target in node.targets)
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        yield node.target, "assign", node.value
    elif isinstance(node, ast.AugAssign):
        yield node.target, "augment", node.value
    elif isinstance(node, (ast.For, ast.AsyncFor)):
        yield node.target, "loop", node.iter
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        yield from ((i.optional_vars, "with", i.context_expr) for i in node.items if i.optional_vars is not None)


def _binds(target: ast.expr, name: str, any_owner: bool) -> bool:
    if isinstance(target, (ast.Tuple, ast.List)):
        return any(_binds(item, name, any_owner) for item in target.elts)
    if isinstance(target, ast.Starred):
        return _binds(target.value, name, any_owner)
    if any_owner:
        return isinstance(target, ast.Attribute) and target.attr == name
    return isinstance(target, (ast.Name, ast.Attribute)) and dotted(target) == name


def _every_argument(arguments: ast.arguments) -> list[ast.arg]:
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
