"""Follows a variable back through assignments, loops, loaders and datasets to the expression its data came from."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from torchmedic.facts import Location
from torchmedic.rules.errors._syntax import Assignment, Code, dotted, dotted_names, path_to

_DEEPEST = 12
_SAME_ITEMS = ("tqdm", "trange", "islice", "iter", "next", "list", "Subset", "random_split", "DataLoader", "cycle")
_ANYWHERE = 10**9


class Trail:
    """Looks for the first expression of a kind on the way back from a name; nothing inside an innocent one counts."""

    def __init__(
        self,
        code: Code,
        is_origin: Callable[[ast.expr], bool],
        is_innocent: Callable[[ast.expr], bool] = lambda _: False,
    ) -> None:
        self._code = code
        self._is_origin = is_origin
        self._is_innocent = is_innocent
        self._seen: set[tuple[str, str, int]] = set()

    def of_name(self, name: str, place: Location, path: tuple[int, ...] = (), depth: int = 0) -> Location | None:
        """Where a name's data came from; `path` picks an item out of a tuple."""
        if depth > _DEEPEST or (name, place.file, place.line) in self._seen:
            return None
        self._seen.add((name, place.file, place.line))
        for bound in self._bindings(name, place):
            if found := self._of_binding(name, bound, path, depth + 1):
                return found
        return self._of_stores(name, depth + 1)

    def of_items(self, source: ast.expr, path: tuple[int, ...], place: Location) -> Location | None:
        """Where the data of a loop's items came from; `path` picks an item out of each."""
        return self._of_items(source, path, place, 0)

    def _of_stores(self, name: str, depth: int) -> Location | None:
        """What was put into a container: `self.parts[task] = …`."""
        for place in self._code.stores_into(name.rpartition(".")[2]) if "." in name else ():
            statement = self._code.statement(place)
            value = getattr(statement, "value", None)
            if isinstance(value, ast.expr) and (found := self._of_expression(value, (), place, depth)):
                return found
        return None

    def _bindings(self, name: str, place: Location) -> Iterator[Assignment]:
        last = self._code.last_assignment(name, place)
        if last is not None:
            yield last
            return
        owner, _, attribute = name.rpartition(".")
        if owner:
            cls = self._code.qualname(place.file, place.line).partition(".")[0] if owner == "self" else ""
            found = self._code.attribute_assignments(attribute, cls)
            yield from (a for a in found if not cls or cls in a.location.function.split("."))
            return
        for file in self._code.trees:
            at_top = Location(file=file, line=_ANYWHERE)
            if (bound := self._code.last_assignment(name, at_top)) is not None:
                yield bound

    def _of_binding(self, name: str, bound: Assignment, path: tuple[int, ...], depth: int) -> Location | None:
        if bound.how == "argument":
            return self._of_argument(name, bound, path, depth)
        if bound.value is None:
            return None
        targets = getattr(bound.node, "targets", None) or [getattr(bound.node, "target", None)]
        inner = next((p for t in targets if t is not None and (p := path_to(t, name)) is not None), ())
        if bound.how == "loop":
            return self._of_items(bound.value, (*inner, *path), bound.location, depth)
        return self._of_expression(bound.value, (*inner, *path), bound.location, depth)

    def _of_argument(self, name: str, bound: Assignment, path: tuple[int, ...], depth: int) -> Location | None:
        function = bound.node
        if not isinstance(function, ast.FunctionDef):
            return None
        scopes = self._code.scopes(bound.location.file, function.lineno)
        method = any(isinstance(s, ast.ClassDef) for s in scopes)
        called = getattr(scopes[0], "name", "") if method and function.name == "__init__" else function.name
        position = [a.arg for a in function.args.args].index(name) - method if name in _positional(function) else -1
        for place, call in self._code.calls(called):
            given = next((k.value for k in call.keywords if k.arg == name), None)
            if given is None and 0 <= position < len(call.args):
                given = call.args[position]
            if given is not None and (found := self._of_expression(given, path, place, depth)):
                return found
        return None

    def _of_items(self, source: ast.expr, path: tuple[int, ...], place: Location, depth: int) -> Location | None:
        """Items of what a loop runs over."""
        if isinstance(source, ast.Call):
            word = dotted(source.func).rpartition(".")[2]
            if word == "enumerate" and source.args:
                return self._of_items(source.args[0], path[1:], place, depth) if path[:1] != (0,) else None
            if word == "zip" and path and path[0] < len(source.args):
                return self._of_items(source.args[path[0]], path[1:], place, depth)
        return self._of_expression(source, path, place, depth)

    def _of_expression(
        self, expression: ast.expr, path: tuple[int, ...], place: Location, depth: int
    ) -> Location | None:
        if depth > _DEEPEST or self._is_innocent(expression):
            return None
        if isinstance(expression, (ast.Tuple, ast.List)) and path and path[0] < len(expression.elts):
            return self._of_expression(expression.elts[path[0]], path[1:], place, depth + 1)
        through = self._of_call(expression, path, place, depth) if isinstance(expression, ast.Call) else None
        if through is not None:
            return through[0]
        origins = [n for n in self._guilty(expression) if self._is_origin(n)]
        if origins:
            return self._code.place(place.file, origins[0])
        for name in dotted_names([expression]):
            if found := self.of_name(name, place, path, depth + 1):
                return found
        return None

    def _guilty(self, expression: ast.AST) -> Iterator[ast.expr]:
        """The parts of an expression, without those inside an innocent one."""
        if isinstance(expression, ast.expr):
            if self._is_innocent(expression):
                return
            yield expression
        for child in ast.iter_child_nodes(expression):
            yield from self._guilty(child)

    def _of_call(
        self, call: ast.Call, path: tuple[int, ...], place: Location, depth: int
    ) -> tuple[Location | None] | None:
        """Into loaders, datasets and the user's own functions; None when the call is none of these."""
        word = dotted(call.func).rpartition(".")[2]
        if word in _SAME_ITEMS and call.args:
            inner = path[1:] if word == "random_split" else path
            return (self._of_items(call.args[0], inner, place, depth + 1),)
        if word == "TensorDataset" and path and path[0] < len(call.args):
            return (self._of_expression(call.args[path[0]], path[1:], place, depth + 1),)
        for found in (self._code.function("__getitem__", word), self._code.function("__iter__", word)):
            if found is not None:
                return (self._of_returns(*found, path, depth),)
        own = self._code.function(word)
        return (self._of_returns(*own, path, depth),) if own is not None else None

    def _of_returns(self, file: str, function: ast.FunctionDef, path: tuple[int, ...], depth: int) -> Location | None:
        for node in ast.walk(function):
            if isinstance(node, (ast.Return, ast.Yield)) and node.value is not None:
                place = self._code.place(file, node)
                if found := self._of_expression(node.value, path, place, depth + 1):
                    return found
        return None


def made_inside(code: Code, bound: Assignment, name: str, depth: int = 0) -> tuple[Location, str]:
    """The line that makes what a function of the user's hands back, and its name there; else the binding itself."""
    call = bound.value
    own = code.function(dotted(call.func).rpartition(".")[2]) if isinstance(call, ast.Call) else None
    targets = getattr(bound.node, "targets", None) or []
    path = next((p for t in targets if (p := path_to(t, name)) is not None), ())
    returns = [n for n in ast.walk(own[1]) if isinstance(n, ast.Return) and n.value is not None] if own else []
    if own is None or len(returns) != 1 or depth > _DEEPEST:
        return bound.location, name
    value = returns[0].value
    for step in path:
        value = value.elts[step] if isinstance(value, ast.Tuple) and step < len(value.elts) else None
    while isinstance(value, ast.Subscript):
        value = value.value
    if not isinstance(value, ast.Name):
        return (bound.location, name) if value is None else (code.place(own[0], value), "")
    inner = code.last_assignment(value.id, code.place(own[0], returns[0]))
    if inner is None or inner.how != "assign":
        return bound.location, name
    return made_inside(code, inner, value.id, depth + 1)


def _positional(function: ast.FunctionDef) -> list[str]:
    return [a.arg for a in function.args.args]


def counting_from_one(code: Code) -> Location | None:
    """The one table in the user's files that numbers things from 1; a loop that counts its steps so is none."""
    found = {
        (place.file, place.line): place
        for file, tree in code.trees.items()
        for table in ast.walk(tree)
        if isinstance(table, (ast.DictComp, ast.ListComp))
        if any(_counts_from_one(generator.iter) for generator in table.generators)
        for place in [code.place(file, table)]
    }
    return next(iter(found.values())) if len(found) == 1 else None


def _counts_from_one(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call) or dotted(node.func) != "enumerate":
        return False
    return any(k.arg == "start" and _is_one(k.value) for k in node.keywords) or any(map(_is_one, node.args[1:]))


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1


def coded_at(code: Code) -> tuple[Location, str] | None:
    """The one expression in the user's files that gives values their place in a list, -1 without one, and the values.

    >>> made = coded_at(Code({"a.py": "y = pd.Categorical(frame['kind'], categories=KINDS).codes"}))
    >>> made[0].line, made[1]
    (1, "frame['kind']")
    """
    found = [
        (code.place(file, node), ast.unparse(values))
        for file, tree in code.trees.items()
        for node in ast.walk(tree)
        if (values := _coded(node)) is not None
    ]
    return found[0] if len(found) == 1 else None


def _coded(node: ast.AST) -> ast.expr | None:
    """What pandas numbers here: `Categorical(values).codes`, `values.cat.codes`, `index.get_indexer(values)`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.args[0] if node.func.attr in ("get_indexer", "factorize") and node.args else None
    if not isinstance(node, ast.Attribute) or node.attr != "codes":
        return None
    owner = node.value
    if isinstance(owner, ast.Call) and dotted(owner.func).endswith("Categorical") and owner.args:
        return owner.args[0]
    return owner.value if isinstance(owner, ast.Attribute) and owner.attr == "cat" else None
