"""The names of a failed level of a traceback, with those that a comprehension had bound when it failed.

Since Python 3.12 a comprehension runs in the frame of its function, and an exception that leaves it takes its variables
away, or gives them back what they were before: they are read from the call that failed, or looked up again.
"""

from __future__ import annotations

import ast
import inspect
import traceback
from collections.abc import Iterator, Mapping
from types import CodeType, FrameType, FunctionType, MethodType, TracebackType
from typing import Any

from torchmedic.late import late_dataclass
from torchmedic.probes.source.expressions import MISSING, Scope, failing_expression, parsed, peek
from torchmedic.probes.source.frames import COMPREHENSIONS, is_own_file
from torchmedic.probes.source.parameters import as_given

_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp
_OTHER_FRAMES = (ast.GeneratorExp, ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_CALLING = ("__call__", "_wrapped_call_impl", "_call_impl")
_MOST_ITEMS = 100_000


@late_dataclass(frozen=True)
class _Names:
    f_locals: Mapping[str, Any]
    f_globals: Mapping[str, Any]


def scope_at(level: TracebackType) -> Scope:
    """What the names of a level stood for when it failed; MISSING for those that nobody knows any more."""
    frame, node = level.tb_frame, failing_expression(level)
    tree = parsed(frame.f_code.co_filename)
    if node is None or tree is None or frame.f_code.co_name in COMPREHENSIONS:
        return frame
    around = list(_around(tree, node))
    bound = [name for one in around for part in one.generators for name in _bound_by(part.target)]
    if not bound:
        return frame
    names = dict.fromkeys(bound, MISSING) | {n: v for n, v in frame.f_locals.items() if n not in bound}
    scope = _Names(names, frame.f_globals)
    callee = next((f for f, _ in traceback.walk_tb(level.tb_next) if not is_own_file(f.f_code.co_filename)), None)
    if callee is not None:
        names |= {n: v for n, v in _handed(node, scope, callee) if n in bound}
    elif (found := _looked_up(node, around, scope)) is not None:
        names |= found
    return scope


def known_names(level: TracebackType) -> dict[str, Any]:
    """The names of a level that still have a value."""
    return {name: thing for name, thing in scope_at(level).f_locals.items() if thing is not MISSING}


def _around(tree: ast.Module, wanted: ast.expr) -> Iterator[_Comprehension]:
    """The comprehensions of the frame that evaluates an expression in whose scope it lies, outermost first."""
    waiting: list[tuple[ast.AST, tuple[_Comprehension, ...]]] = [(tree, ())]
    while waiting:
        node, around = waiting.pop()
        if node is wanted:
            yield from around
            return
        inside: tuple[_Comprehension, ...] = around
        if isinstance(node, _OTHER_FRAMES):
            inside = ()
        elif isinstance(node, _Comprehension):
            inside = (*around, node)
        first = node.generators[0].iter if isinstance(node, (_Comprehension, ast.GeneratorExp)) else None
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.comprehension):
                waiting += [(part, around if part is first else inside) for part in ast.iter_child_nodes(child)]
            else:
                waiting.append((child, inside))


def _bound_by(target: ast.expr) -> list[str]:
    return [part.id for part in ast.walk(target) if isinstance(part, ast.Name)]


def _handed(node: ast.expr, scope: Scope, callee: FrameType) -> Iterator[tuple[str, Any]]:
    """Names that stand alone in the call that failed, with what the function that it led to was given for them."""
    given = as_given(callee)
    code = callee.f_code
    pairs: list[tuple[ast.expr, Any]] = []
    if isinstance(node, ast.Subscript) and code.co_name == "__getitem__":
        pairs = list(zip((node.value, node.slice), given.positional, strict=False))
    elif isinstance(node, ast.Attribute) and code.co_name in ("__getattr__", "__getattribute__"):
        pairs = list(zip((node.value,), given.positional, strict=False))
    elif isinstance(node, ast.Call) and _leads_to(node.func, scope, code):
        owner = node.func.value if isinstance(node.func, ast.Attribute) and code.co_name not in _CALLING else node.func
        is_method = inspect.ismethod(peek(node.func, scope)) or given.has_self
        operands = (owner, *_plain(node.args)) if is_method else _plain(node.args)
        pairs = list(zip(operands, given.positional, strict=False))
        pairs += [(k.value, given.named.get(k.arg, MISSING)) for k in node.keywords if k.arg is not None]
    yield from ((part.id, thing) for part, thing in pairs if isinstance(part, ast.Name) and thing is not MISSING)


def _plain(arguments: list[ast.expr]) -> tuple[ast.expr, ...]:
    """The arguments whose place is known."""
    starred = next((i for i, one in enumerate(arguments) if isinstance(one, ast.Starred)), len(arguments))
    return tuple(arguments[:starred])


def _leads_to(called: ast.expr, scope: Scope, code: CodeType) -> bool:
    """Whether the function of a call is the one that runs this code, and not what it calls in turn."""
    target = peek(called, scope)
    if code.co_name in _CALLING:
        return target is MISSING or not isinstance(target, (FunctionType, MethodType, type))
    if target is MISSING:
        return isinstance(called, ast.Attribute) and code.co_name == called.attr
    if isinstance(target, MethodType):
        target = target.__func__
    if isinstance(target, type):
        target = inspect.getattr_static(target, "__init__", None)
    return getattr(target, "__code__", None) is code


def _looked_up(node: ast.expr, around: list[_Comprehension], scope: Scope) -> dict[str, Any] | None:
    """The names at the first items for which a plain lookup fails: it failed without leading to a function."""
    generators = [part for one in around for part in one.generators]
    if not isinstance(node, (ast.Subscript, ast.Attribute)) or any(part.ifs for part in generators):
        return None
    for names, _ in zip(_passes(generators, scope), range(_MOST_ITEMS), strict=False):
        is_there = _is_there(node, _Names({**scope.f_locals, **names}, scope.f_globals))
        if not is_there:
            return names if is_there is False else None
    return None


def _is_there(node: ast.Subscript | ast.Attribute, scope: Scope) -> bool | None:
    """Whether a lookup succeeds; None where only the code of some class knows."""
    owner = peek(node.value, scope)
    if isinstance(node, ast.Attribute):
        return hasattr(owner, node.attr) if type(owner).__module__ == "builtins" and owner is not MISSING else None
    is_known = type(owner) in (dict, list, tuple) and peek(node.slice, scope) is not MISSING
    return peek(node, scope) is not MISSING if is_known else None


def _passes(generators: list[ast.comprehension], scope: Scope) -> Iterator[dict[str, Any]]:
    """What `for … in … for … in …` binds, pass by pass, as far as containers of Python's own are gone through."""
    if not generators:
        yield {}
        return
    for item in _items(generators[0].iter, scope):
        names = _taken_apart(generators[0].target, item)
        inside = _Names({**scope.f_locals, **names}, scope.f_globals)
        yield from ({**names, **deeper} for deeper in _passes(generators[1:], inside))


def _items(node: ast.expr, scope: Scope) -> list[Any]:
    """What a loop goes through, where that runs no code of a class."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return [peek(part, scope) for part in node.elts]
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "enumerate" and len(node.args) == 1:
        return list(enumerate(_items(node.args[0], scope)))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("items", "values"):
        owner = peek(node.func.value, scope)
        return list(getattr(owner, node.func.attr)()) if type(owner) is dict else []
    items = peek(node, scope)
    return list(items) if type(items) in (list, tuple, dict) else []


def _taken_apart(target: ast.expr, item: Any) -> dict[str, Any]:
    if isinstance(target, ast.Name):
        return {target.id: item}
    if isinstance(target, (ast.Tuple, ast.List)) and type(item) in (tuple, list) and len(item) == len(target.elts):
        found = (_taken_apart(part, each) for part, each in zip(target.elts, item, strict=True))
        return {name: thing for names in found for name, thing in names.items()}
    return dict.fromkeys(_bound_by(target), MISSING)
