"""Follows what an attribute or a variable holds back through the user's source: which lines made it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from torchmedic.facts import Location
from torchmedic.late import late_dataclass
from torchmedic.probes.source.expressions import called_name, calls_named, functions_named, parsed, walked
from torchmedic.probes.source.frames import file_of, is_user_file, location
from torchmedic.probes.source.sources import file_at, user_files

_MOST_PLACES = 40
_MOST_STEPS = 4
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES = (*_FUNCTIONS, ast.ClassDef, ast.Lambda)


@late_dataclass(frozen=True)
class Place:
    """An expression of the user's; `part` is which item of the tuple that it gives is meant."""

    file: str
    scope: ast.AST
    value: ast.expr
    part: int | None = None

    def location(self, line: int = 0) -> Location:
        return location(self.file, line or self.value.lineno, getattr(self.scope, "name", ""))


def attribute_made(kind: type, attribute: str) -> Place | None:
    """Where a class gives `self.attribute` its value."""
    for cls in kind.__mro__:
        file = file_of(cls)
        tree = parsed(file) if file and is_user_file(file) else None
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.ClassDef) and node.name == cls.__name__:
                methods = [method for method in node.body if isinstance(method, _FUNCTIONS)]
                found = [made for m in methods for made in _bound(file, m, lambda t: _is_own(t, attribute))]
                if found:
                    return found[0]
    return None


def attribute_given(place: Place) -> Place | None:
    """What the class around a place gives the `self.attribute` that stands there."""
    value, tree = place.value, parsed(place.file)
    if tree is None or not isinstance(value, ast.Attribute) or ast.unparse(value.value) != "self":
        return None
    owners = [n for n in ast.walk(tree) if isinstance(n, ast.ClassDef) and place.scope in n.body]
    methods = [method for owner in owners for method in owner.body if isinstance(method, _FUNCTIONS)]
    found = [made for method in methods for made in _bound(place.file, method, lambda t: _is_own(t, value.attr))]
    return found[-1] if found else None


def variable_made(file: str, scope: ast.AST, name: str) -> Place | None:
    """Where a function or a module gave a variable its (last) value."""
    found = list(_bound(file, scope, lambda target: isinstance(target, ast.Name) and target.id == name))
    return found[-1] if found else None


def tensor_given(position: int) -> Place | None:
    """What the script's first `TensorDataset(…)` is given at a position."""
    for file in user_files():
        for call in sorted(calls_named(file, "TensorDataset"), key=lambda c: c.lineno):
            tree = parsed(file)
            scope = scope_around(tree, call) if tree is not None else call
            if len(call.args) == 1 and isinstance(call.args[0], ast.Starred):
                return Place(file, scope, call.args[0].value, position)
            if position < len(call.args) and not any(isinstance(a, ast.Starred) for a in call.args):
                return Place(file, scope, call.args[position])
    return None


def argument_at(called: Location | None, callee: str, position: int = 0, keyword: str = "") -> Place | None:
    """What the call of a name at a line is given at a position, or by a keyword."""
    file = file_at(called)
    tree = parsed(file) if file else None
    if called is None or tree is None:
        return None
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or called_name(call) != callee:
            continue
        given = argument_of(call, position, keyword)
        if given is not None and call.lineno <= called.line <= (call.end_lineno or 0):
            return Place(file, scope_around(tree, call), given)
    return None


def argument_of(call: ast.Call, position: int, keyword: str = "") -> ast.expr | None:
    """What a call is given by a keyword, or else at a position."""
    named = [given.value for given in call.keywords if keyword and given.arg == keyword]
    return next(iter(named or call.args[position : position + 1]), None)


def places_behind(start: Place | None) -> Iterator[Place]:
    """The expressions that a value went through, the last first."""
    waiting = [start] if start is not None else []
    seen: set[tuple[int, int | None]] = set()
    while waiting and len(seen) < _MOST_PLACES:
        place = waiting.pop(0)
        if (id(place.value), place.part) in seen:
            continue
        seen.add((id(place.value), place.part))
        if not isinstance(place.value, (ast.Name, ast.Attribute)):
            yield place
        waiting += _before(place)


def name_of(start: Place | None) -> str:
    """The variable that a value was last held in, where nothing was computed with it since."""
    place = start
    for _ in range(_MOST_STEPS):
        if place is None or isinstance(place.value, ast.Name):
            return place.value.id if place is not None and isinstance(place.value, ast.Name) else ""
        place = next(iter(_before(place)), None) if place.part is not None else None
    return ""


def line_made(start: Place | None) -> Location | None:
    """The line that first gave the value its present form: no plain name, and no part of a tuple."""
    for place in places_behind(start):
        if place.part is None:
            return place.location()
    return start.location() if start is not None else None


def line_with(start: Place | None, is_wanted: Callable[[ast.AST], bool]) -> Location | None:
    """The last line on the way of a value with a node that is looked for."""
    for place in places_behind(start):
        if place.part is not None:
            continue
        for node in ast.walk(place.value):
            if is_wanted(node) and isinstance(node, ast.expr):
                named = node.func.end_lineno if isinstance(node, ast.Call) else None
                return place.location(named or node.lineno)
    return None


def _before(place: Place) -> list[Place]:
    """What an expression was computed from."""
    value, part = place.value, place.part
    if isinstance(value, ast.Tuple) and part is not None:
        return [Place(place.file, place.scope, value.elts[part])] if part < len(value.elts) else []
    if isinstance(value, ast.Name):
        return _behind_name(place, value)
    if isinstance(value, ast.Attribute) and ast.unparse(value.value) == "self":
        return []
    if isinstance(value, ast.Call):
        returned = list(_returned(value, part))
        if returned:
            return returned
    return [Place(place.file, place.scope, child) for child in _read(value)]


def _read(value: ast.expr) -> list[ast.expr]:
    """The parts of an expression that its values come from, the object of a method first."""
    if isinstance(value, ast.Call):
        owner = [value.func.value] if isinstance(value.func, ast.Attribute) else []
        return [*owner, *value.args]
    if isinstance(value, (ast.Subscript, ast.Attribute, ast.Starred)):
        return [value.value]
    return [child for child in ast.iter_child_nodes(value) if isinstance(child, ast.expr)]


def _behind_name(place: Place, name: ast.Name) -> list[Place]:
    bound = list(_bound(place.file, place.scope, lambda t: isinstance(t, ast.Name) and t.id == name.id))
    before = [made for made in bound if made.value.lineno < name.lineno]
    if bound:
        last = (before or bound)[-1]
        others = [made for made in bound if _are_branches(place.scope, last.value.lineno, made.value.lineno)]
        parts = [part for made in (last, *others) for part in _filled(made, name.id, place.part)]
        return parts or [_with_part(made, place.part) for made in (last, *others)]
    if isinstance(place.scope, _FUNCTIONS):
        given = _given(place.file, place.scope, name.id)
        tree = parsed(place.file)
        if given is None and tree is not None:
            return _behind_name(Place(place.file, tree, name, place.part), name)
        return [given] if given is not None else []
    return []


def _with_part(made: Place, part: int | None) -> Place:
    return Place(made.file, made.scope, made.value, made.part if made.part is not None else part)


def _are_branches(scope: ast.AST, line: int, other: int) -> bool:
    """Whether two lines stand in different branches of a condition or of a `try`: one of them was run."""
    forks = [[n.body, n.orelse] for n in own_nodes(scope) if isinstance(n, ast.If)]
    forks += [[n.body, *(h.body for h in n.handlers)] for n in own_nodes(scope) if isinstance(n, ast.Try)]
    for branches in forks:
        at = [next((i for i, b in enumerate(branches) if _holds(b, each)), None) for each in (line, other)]
        if None not in at and at[0] != at[1]:
            return True
    return False


def _holds(body: list[ast.stmt], line: int) -> bool:
    return bool(body) and body[0].lineno <= line <= (body[-1].end_lineno or 0)


def _filled(made: Place, name: str, part: int | None) -> list[Place]:
    """What is appended to a list that begins empty: to all of it, or one by one to a part of it."""
    if not isinstance(made.value, ast.List) or made.value.elts:
        return []
    calls = sorted((n for n in own_nodes(made.scope) if isinstance(n, ast.Call)), key=lambda call: call.lineno)
    given = [call.args[0] for call in calls if ast.unparse(call.func) == f"{name}.append" and len(call.args) == 1]
    chosen = given[part : part + 1] if part is not None and len(given) > 1 else given
    return [Place(made.file, made.scope, value) for value in chosen]


def _bound(file: str, scope: ast.AST, fits: Callable[[ast.expr], bool]) -> Iterator[Place]:
    """The values that a scope gives to a target, in the order of lines."""
    found = []
    for node in own_nodes(scope):
        if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
            continue
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
            if fits(target):
                found.append(Place(file, scope, node.value))
            found += [Place(file, scope, node.value, at) for at, part in enumerate(parts) if fits(part)]
    yield from sorted(found, key=lambda made: made.value.lineno)


def own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function or a module that are not of a function or a class inside it."""
    waiting = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop()
        if not isinstance(node, _SCOPES):
            yield node
            waiting += ast.iter_child_nodes(node)


def _is_own(target: ast.expr, attribute: str) -> bool:
    return isinstance(target, ast.Attribute) and target.attr == attribute and ast.unparse(target.value) == "self"


def _returned(call: ast.Call, part: int | None) -> Iterator[Place]:
    """What a function of the user's gives back to a call."""
    name = called_name(call)
    for file in user_files():
        for function in functions_named(file, name):
            returns = [n for n in own_nodes(function) if isinstance(n, ast.Return)]
            yield from (Place(file, function, n.value, part) for n in returns if n.value is not None)


def _given(file: str, function: ast.AST, parameter: str) -> Place | None:
    """What the first call of a function (or of a class, where it is its `__init__`) gives for a parameter."""
    assert isinstance(function, _FUNCTIONS)
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    if parameter not in names:
        return None
    owner = _owner_of(file, function)
    callee = owner if function.name == "__init__" else function.name
    at = names.index(parameter) - (1 if owner else 0)
    for other in user_files():
        tree = parsed(other)
        for call in calls_named(other, callee):
            named = [k.value for k in call.keywords if k.arg == parameter]
            given = named or [a for a in call.args[at : at + 1] if not isinstance(a, ast.Starred)]
            if given and tree is not None:
                return Place(other, scope_around(tree, call), given[0])
    return None


def _owner_of(file: str, function: ast.AST) -> str:
    """The class that a method stands in."""
    classes = (node for node in walked(file) if isinstance(node, ast.ClassDef))
    return next((node.name for node in classes if function in node.body), "")


def scope_around(tree: ast.Module, node: ast.expr) -> ast.AST:
    """The innermost function around an expression, or the module."""
    around = [f for f in ast.walk(tree) if isinstance(f, _FUNCTIONS) and f.lineno <= node.lineno <= (f.end_lineno or 0)]
    return max(around, key=lambda f: f.lineno, default=tree)
