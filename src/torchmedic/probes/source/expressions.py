"""Finds the expression that failed in a frame, and reads simple expressions without running any code of the user."""

from __future__ import annotations

import ast
import functools
import itertools
import linecache
from collections import defaultdict
from collections.abc import Mapping
from types import CodeType, FrameType, TracebackType
from typing import Any, Protocol

from torchmedic.probes.source.frames import is_user_file
from torchmedic.probes.source.positions import is_of_a_loop

MISSING = object()
MOST_FILES = 256  # of the user's, whose syntax is kept: some 40,000 lines take 50 MB and half a second

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Scope(Protocol):
    """Where names are looked up: a frame, or what stands for one that is gone."""

    @property
    def f_locals(self) -> Mapping[str, Any]: ...

    @property
    def f_globals(self) -> Mapping[str, Any]: ...


def innermost_user(tb: TracebackType | None) -> TracebackType | None:
    """The last level of a traceback that lies in the user's code."""
    found = None
    while tb is not None:
        if is_user_file(tb.tb_frame.f_code.co_filename):
            found = tb
        tb = tb.tb_next
    return found


def failing_expression(tb: TracebackType) -> ast.expr | None:
    """The expression that was being evaluated at one level of a traceback; None where a loop asked for an item."""
    if is_of_a_loop(tb.tb_frame.f_code, tb.tb_lasti):
        return None
    place = _position(tb.tb_frame.f_code, tb.tb_lasti)
    tree = parsed(tb.tb_frame.f_code.co_filename)
    if place is None or tree is None:
        return None
    fitting = (node for node in ast.walk(tree) if isinstance(node, ast.expr) and _span(node) == place)
    return next(fitting, None)


def behind_wrappers(error: BaseException) -> BaseException:
    """The exception that handlers of the user's have only put into other words."""
    while (inner := wrapped_by(error)) is not None:
        error = inner
    return error


def wrapped_by(error: BaseException) -> BaseException | None:
    """What a `raise` in the user's own handler has put into other words."""
    inner = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if inner is None or inner is error or last is None or not is_user_file(last.tb_frame.f_code.co_filename):
        return None
    tree, line = parsed(last.tb_frame.f_code.co_filename), last.tb_lineno
    raises = (node for node in ast.walk(tree) if isinstance(node, ast.Raise)) if tree is not None else iter(())
    return inner if any(node.lineno <= line <= (node.end_lineno or 0) for node in raises) else None


def unpacked_value(tb: TracebackType) -> ast.expr | None:
    """What `a, b = value` took apart, where the unpacking itself failed at one level of a traceback."""
    target = failing_expression(tb)
    tree = parsed(tb.tb_frame.f_code.co_filename)
    if tree is None or not isinstance(target, (ast.Tuple, ast.List)) or not isinstance(target.ctx, ast.Store):
        return None
    assignments = (node for node in ast.walk(tree) if isinstance(node, ast.Assign))
    return next((node.value for node in assignments if target in node.targets), None)


def _position(code: CodeType, offset: int) -> tuple[int, int, int, int] | None:
    line, end_line, column, end_column = next(itertools.islice(code.co_positions(), offset // 2, None), (None,) * 4)
    if line is None or end_line is None or column is None or end_column is None:
        return None
    return line, end_line, column, end_column


def _span(node: ast.expr) -> tuple[int, int, int, int]:
    return node.lineno, node.end_lineno or 0, node.col_offset, node.end_col_offset or 0


@functools.lru_cache(maxsize=MOST_FILES)
def parsed(filename: str) -> ast.Module | None:
    """A file's syntax tree; None where there is no source or it cannot be parsed."""
    text = "".join(linecache.getlines(filename))
    try:
        return ast.parse(text) if text else None
    except (SyntaxError, ValueError):
        return None


@functools.lru_cache(maxsize=MOST_FILES)
def walked(filename: str) -> tuple[ast.AST, ...]:
    """Every node of a file, those nearer to the top first."""
    tree = parsed(filename)
    return tuple(ast.walk(tree)) if tree is not None else ()


def functions_named(filename: str, name: str) -> list[Function]:
    """The functions and methods of a file that have this name."""
    return _by_name(filename)[0].get(name, [])


def calls_named(filename: str, name: str) -> list[ast.Call]:
    """The calls of a file whose last part is this name."""
    return _by_name(filename)[1].get(name, [])


@functools.lru_cache(maxsize=MOST_FILES)
def _by_name(filename: str) -> tuple[dict[str, list[Function]], dict[str, list[ast.Call]]]:
    functions: defaultdict[str, list[Function]] = defaultdict(list)
    calls: defaultdict[str, list[ast.Call]] = defaultdict(list)
    for node in walked(filename):
        if isinstance(node, Function):
            functions[node.name].append(node)
        elif isinstance(node, ast.Call):
            calls[called_name(node)].append(node)
    return functions, calls


def function_of(code: CodeType) -> ast.FunctionDef | None:
    """The definition that a code object was compiled from; None where its file cannot be read."""
    functions = (node for node in walked(code.co_filename) if isinstance(node, ast.FunctionDef))
    begin = code.co_firstlineno  # of the first decorator, where there is one
    return next((f for f in functions if begin in (f.lineno, *(d.lineno for d in f.decorator_list))), None)


def called_name(call: ast.Call) -> str:
    """The last part of what is called: `LSTM` of `nn.LSTM(…)`."""
    if isinstance(call.func, ast.Name):
        return call.func.id
    return call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)


def peek(node: ast.AST | None, frame: Scope) -> Any:
    """The value of a name, an attribute or a plain subscript; MISSING for whatever would have to run code."""
    if isinstance(node, ast.Name):
        return frame.f_locals.get(node.id, frame.f_globals.get(node.id, MISSING))
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Attribute):
        owner = peek(node.value, frame)
        return MISSING if owner is MISSING else _attribute(owner, node.attr)
    if isinstance(node, ast.Subscript):
        return _item(peek(node.value, frame), peek(node.slice, frame))
    return MISSING


def _attribute(owner: Any, name: str) -> Any:
    """Instance dictionaries first (modules keep children and parameters in theirs); properties are not run."""
    for store in ("__dict__", "_modules", "_parameters", "_buffers"):
        held = getattr(owner, store, None) if store == "__dict__" else vars_of(owner).get(store)
        if isinstance(held, dict) and name in held:
            return held[name]
    static = next((vars(kind)[name] for kind in type(owner).__mro__ if name in vars(kind)), MISSING)
    return getattr(owner, name, MISSING) if callable(static) else MISSING


def vars_of(thing: Any) -> dict[str, Any]:
    found = getattr(thing, "__dict__", None)
    return found if isinstance(found, dict) else {}


def _item(owner: Any, key: Any) -> Any:
    if key is MISSING or type(owner) not in (dict, list, tuple):
        return MISSING
    try:
        return owner[key]
    except (KeyError, IndexError, TypeError):
        return MISSING


def enclosing_function(tree: ast.Module, frame: FrameType) -> ast.AST:
    """The function (or the module) in whose body a frame runs."""
    first = frame.f_code.co_firstlineno
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == frame.f_code.co_name:
            starts = [node.lineno, *(d.lineno for d in node.decorator_list)]
            if first in starts:
                return node
    return tree


def last_assignment(scope: ast.AST, name: str, before: int) -> ast.Assign | ast.AnnAssign | None:
    """The nearest statement above a line that gives a plain name its value."""
    found: ast.Assign | ast.AnnAssign | None = None
    for node in ast.walk(scope):
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if (
            isinstance(node, (ast.Assign, ast.AnnAssign))
            and any(ast.unparse(target) == name for target in targets)
            and node.lineno < before
            and (found is None or node.lineno > found.lineno)
        ):
            found = node
    return found
