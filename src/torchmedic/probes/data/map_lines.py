"""Which line gave a data set its map from labels to numbers: its class's own, or the one that builds the data set."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchmedic.facts import Location
from torchmedic.late import late_dataclass
from torchmedic.probes.source.expressions import called_name, parsed
from torchmedic.probes.source.frames import file_of, is_user_file, location
from torchmedic.probes.source.making_lines import (
    Place,
    attribute_given,
    attribute_made,
    line_made,
    own_nodes,
    places_behind,
    scope_around,
)
from torchmedic.probes.source.sources import file_at, hung_at, user_nodes

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_MOST_HOPS = 6


@late_dataclass(frozen=True)
class MapLines:
    """The line to edit and, where that is another one, the line that makes the map.

    `parameter` is what the class would take the map from, and was not given where the data set is built.
    """

    edit: Location | None
    made: Location | None = None
    parameter: str = ""


def map_lines(kind: type, attribute: str, loader_built: Location | None) -> MapLines:
    """Where a data set of a class, which a loader was built with, got the map that it holds as an attribute."""
    call = _call_behind(loader_built, kind.__name__)
    made = attribute_made(kind, attribute)
    if made is None or not isinstance(made.scope, _FUNCTIONS):
        is_foreign = not is_user_file(file_of(kind))
        return MapLines(call.location() if is_foreign and call is not None else hung_at(kind, attribute))
    anew = _line_in(kind, made)
    parameter = _parameter_behind(kind, made) if made.scope.name == "__init__" else ""
    if not parameter or call is None:
        return MapLines(anew)
    given = _given(call, made.scope, parameter)
    if given is not None:
        return MapLines(line_made(Place(call.file, call.scope, given)), anew)
    return MapLines(call.location(), anew, parameter)


def _call_behind(loader_built: Location | None, name: str) -> Place | None:
    """The call of a class that gave a loader its data set; else the last one of the user's files."""
    for place in places_behind(_dataset_given(loader_built)):
        if isinstance(place.value, ast.Call) and called_name(place.value) == name:
            return place
    found = [Place(file, _scope(file, n), n) for file, n in user_nodes() if isinstance(n, ast.Call)]
    return next((place for place in reversed(found) if called_name(place.value) == name), None)  # type: ignore[arg-type]


def _dataset_given(loader_built: Location | None) -> Place | None:
    """What the call that built a loader was given as its data set."""
    file = file_at(loader_built)
    tree = parsed(file) if file and loader_built is not None else None
    calls = [n for n in (ast.walk(tree) if tree is not None else ()) if isinstance(n, ast.Call)]
    around = [c for c in calls if loader_built is not None and c.lineno <= loader_built.line <= (c.end_lineno or 0)]
    for call in around:
        named = [k.value for k in call.keywords if k.arg == "dataset"]
        given = named or [a for a in call.args[:1] if not isinstance(a, ast.Starred)]
        if given and called_name(call).endswith("Loader"):
            place = Place(file, _scope(file, call), given[0])
            return attribute_given(place) or place
    return None


def _scope(file: str, node: ast.expr) -> ast.AST:
    tree = parsed(file)
    return scope_around(tree, node) if tree is not None else node


def _line_in(kind: type, made: Place) -> Location:
    """The line of a class that computes what it gives to an attribute by way of a variable."""
    assert isinstance(made.scope, _FUNCTIONS)
    value, lines = made.value, [made.value.lineno]
    for _ in range(_MOST_HOPS):
        if not isinstance(value, ast.Name):
            break
        found = [n for n in own_nodes(made.scope) if isinstance(n, ast.Assign) and _is_for(n, value)]
        if not found:
            break
        last = max(found, key=lambda n: n.lineno)
        value, lines = last.value, [*lines, last.lineno]
    return location(made.file, lines[-1], f"{kind.__qualname__}.{made.scope.name}")


def _is_for(node: ast.Assign, name: ast.Name) -> bool:
    return node.lineno < name.lineno and any(isinstance(t, ast.Name) and t.id == name.id for t in node.targets)


def _parameter_behind(kind: type, made: Place) -> str:
    """The parameter, None unless given, that the map or the labels numbered in it come from."""
    assert isinstance(made.scope, _FUNCTIONS)
    if isinstance(made.value, ast.Name) and made.value.id in _names(made.scope):
        return made.value.id
    optional = _optional(made.scope)
    waiting, seen = [made.value], 0
    while waiting and seen < _MOST_HOPS:
        value, seen = waiting.pop(0), seen + 1
        for part in _wholes(value):
            if isinstance(part, ast.Attribute):
                behind = attribute_made(kind, part.attr) if ast.unparse(part.value) == "self" else None
                waiting += [behind.value] if behind is not None and behind.scope is made.scope else []
            elif isinstance(part, ast.Name) and part.id in optional:
                return part.id
            elif isinstance(part, ast.Name):
                waiting += [n.value for n in own_nodes(made.scope) if isinstance(n, ast.Assign) and _is_for(n, part)]
    return ""


def _wholes(value: ast.expr) -> Iterator[ast.expr]:
    """The names whose labels an expression takes over as a whole, in their order.

    >>> texts = ("given or sorted(found)", "{k: i for i, k in enumerate(names)}", "names[:most]", "dict(zip(a, b))")
    >>> [[ast.unparse(part) for part in _wholes(ast.parse(text, mode="eval").body)] for text in texts]
    [['given', 'found'], ['names'], [], ['a']]
    """
    if isinstance(value, (ast.Name, ast.Attribute)):
        yield value
    elif isinstance(value, ast.BoolOp):
        yield from (part for operand in value.values for part in _wholes(operand))
    elif isinstance(value, ast.IfExp):
        yield from (part for branch in (value.body, value.orelse) for part in _wholes(branch))
    elif isinstance(value, (ast.DictComp, ast.ListComp)):
        yield from _wholes(value.generators[0].iter)
    elif isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.args:
        yield from _wholes(value.args[0])


def _names(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    return [a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]


def _optional(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Parameters that are None where nothing is given for them."""
    plain = [*function.args.posonlyargs, *function.args.args]
    pairs = [*zip(reversed(plain), reversed(function.args.defaults), strict=False)]
    pairs += [(a, d) for a, d in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True) if d is not None]
    return {a.arg for a, default in pairs if isinstance(default, ast.Constant) and default.value is None}


def _given(call: Place, function: ast.FunctionDef | ast.AsyncFunctionDef, parameter: str) -> ast.expr | None:
    assert isinstance(call.value, ast.Call)
    named = [k.value for k in call.value.keywords if k.arg == parameter]
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)][1:]
    at = names.index(parameter) if parameter in names else len(call.value.args)
    given = named or call.value.args[at : at + 1]
    return given[0] if given else None
