"""Where the value of a parameter, a configuration's field or a key was written down."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Location
from torchmedic.rules.errors._syntax import Code, dotted

Written = tuple[Location, ast.expr]
_DEEPEST = 6


def given_for(call: ast.Call, name: str, position: int) -> ast.expr | None:
    """What a call passes for a parameter; None where a `*` hides it or the default is taken."""
    named = next((k.value for k in call.keywords if k.arg == name), None)
    if named is not None or any(isinstance(a, ast.Starred) for a in call.args):
        return named
    return call.args[position] if 0 <= position < len(call.args) else None


def passed_by_callers(code: Code, place: Location, function: ast.FunctionDef, name: str) -> Iterator[Written]:
    """What the calls of a function, or of the class it constructs, pass for one of its parameters."""
    return ((at, given) for at, _, given in passing_calls(code, place, function, name))


def passing_calls(
    code: Code, place: Location, function: ast.FunctionDef, name: str
) -> Iterator[tuple[Location, ast.Call, ast.expr]]:
    """The calls of a function, or of the class it constructs, that pass one of its parameters, with what they pass."""
    scopes = code.scopes(place.file, function.lineno)
    owner = next((s for s in reversed(scopes[:-1]) if isinstance(s, ast.ClassDef)), None)
    called = owner.name if owner is not None and function.name == "__init__" else function.name
    names = [a.arg for a in function.args.args]
    position = names.index(name) - (owner is not None) if name in names else -1
    for at, call in code.calls(called):
        given = given_for(call, name, position)
        if given is not None:
            yield at, call, given


def passed_as(code: Code, name: str) -> Iterator[Written]:
    """What the user's own classes are given under a name: the fields of a configuration."""
    own = {n.name for tree in code.trees.values() for n in ast.walk(tree) if isinstance(n, ast.ClassDef)}
    for place, call in code.calls(*own, "Namespace", "SimpleNamespace", "replace"):
        given = next((k.value for k in call.keywords if k.arg == name), None)
        if given is not None:
            yield place, given


def written_under(code: Code, key: str) -> Iterator[Written]:
    """What the user's files put under a key of a dictionary."""
    for file, tree in code.trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Dict):
                for k, value in zip(node.keys, node.values, strict=True):
                    if isinstance(k, ast.Constant) and k.value == key:
                        yield code.place(file, value), value
            elif isinstance(node, ast.Call) and dotted(node.func) in ("dict", "OrderedDict"):
                yield from ((code.place(file, k.value), k.value) for k in node.keywords if k.arg == key)
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Subscript) and getattr(target.slice, "value", None) == key:
                        yield code.place(file, node), node.value


def configured_at(code: Code, built: Location) -> Location | None:
    """Where the configuration was written that a model is built from: `Model(config)`, `config = ModelConfig(…)`."""
    statement = code.statement(built)
    for call in ast.walk(statement) if statement is not None else ():
        for name in (a for a in (call.args if isinstance(call, ast.Call) else ()) if isinstance(a, ast.Name)):
            bound = code.last_assignment(name.id, built)
            value = bound.value if bound is not None else None
            if isinstance(value, ast.Call) and dotted(value.func).endswith("Config"):
                return code.place(built.file, value)
    return None


def default_of(function: ast.FunctionDef, name: str) -> ast.expr | None:
    """The default of a parameter."""
    arguments = function.args
    last = arguments.args[len(arguments.args) - len(arguments.defaults) :]
    known: dict[str, ast.expr | None] = {a.arg: d for a, d in zip(last, arguments.defaults, strict=True)}
    known |= {a.arg: d for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)}
    return known.get(name)


def texts_behind(code: Code, expression: ast.expr, place: Location) -> Iterator[tuple[Location, str]]:
    """The words that an expression may hold, each with the place where it is written."""
    return ((at, value) for at, value in constants_behind(code, expression, place) if isinstance(value, str))


def constants_behind(
    code: Code, expression: ast.expr, place: Location, depth: int = 0
) -> Iterator[tuple[Location, object]]:
    """The constants that an expression may stand for, each with the place where it is written."""
    if depth > _DEEPEST:
        return
    if isinstance(expression, ast.Constant):
        yield code.place(place.file, expression), expression.value
    elif isinstance(expression, (ast.Tuple, ast.List, ast.Set)):
        for item in expression.elts:
            yield from constants_behind(code, item, place, depth + 1)
    else:
        for at, value in _bound_to(code, expression, place):
            yield from constants_behind(code, value, at, depth + 1)


def _fields(code: Code, name: str) -> Iterator[Written]:
    """The defaults of a field, in the bodies of classes."""
    for file, tree in code.trees.items():
        bodies = (node.body for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
        for line in (line for body in bodies for line in body if isinstance(line, ast.AnnAssign)):
            if isinstance(line.target, ast.Name) and line.target.id == name and line.value is not None:
                yield code.place(file, line), line.value


def _bound_to(code: Code, expression: ast.expr, place: Location) -> Iterator[Written]:
    if isinstance(expression, ast.Subscript) and isinstance(expression.slice, ast.Constant):
        yield from written_under(code, str(expression.slice.value))
    elif isinstance(expression, ast.Attribute):
        yield from passed_as(code, expression.attr)
        yield from _fields(code, expression.attr)
        for bound in code.attribute_assignments(expression.attr):
            if bound.value is not None:
                yield bound.location, bound.value
    elif isinstance(expression, ast.Name):
        bound_here = code.last_assignment(expression.id, place)
        if bound_here is None:
            bound_here = code.last_assignment(expression.id, Location(file=place.file, line=10**9))
        if bound_here is None:
            return
        if bound_here.how == "argument" and isinstance(bound_here.node, ast.FunctionDef):
            yield from passed_by_callers(code, bound_here.location, bound_here.node, expression.id)
            default = default_of(bound_here.node, expression.id)
            if default is not None:
                yield bound_here.location, default
        elif bound_here.value is not None:
            yield bound_here.location, bound_here.value
