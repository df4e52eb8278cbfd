"""Looks closer at the expression that failed: the keys there were, the signature called, the maker of a None."""

from __future__ import annotations

import ast
import difflib
import inspect
import operator
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from types import FrameType, FunctionType, MethodType
from typing import Any

from torchmedic.facts import FailedCall, FailedUnpack, Location, MissingKey, NoneOrigin, Observation
from torchmedic.probes.crash.comprehensions import scope_at
from torchmedic.probes.crash.files import file_at_crash
from torchmedic.probes.crash.left_out_type import left_out_type
from torchmedic.probes.crash.missing_cell import missing_cell
from torchmedic.probes.crash.number_as_text import number_as_text
from torchmedic.probes.crash.text_column import text_column
from torchmedic.probes.crash.undecodable import undecodable_text
from torchmedic.probes.crash.used_up import used_up_generator
from torchmedic.probes.objects.values import type_name
from torchmedic.probes.source.expressions import (
    MISSING,
    Scope,
    called_name,
    enclosing_function,
    failing_expression,
    innermost_user,
    last_assignment,
    parsed,
    peek,
    unpacked_value,
)
from torchmedic.probes.source.frames import is_user_file, location
from torchmedic.record import Probe

_MOST_KEYS = 24
_KEY_METHODS = ("pop", "__getitem__", "move_to_end")
_LONGEST_SIGNATURE = 160
_DEEPEST_RETURN = 5
_NONE_MESSAGE = re.compile(r"'?NoneType'? (?:object|takes)|but got NoneType|found <class 'NoneType'>|not NoneType")
_MUTATORS = {"sort", "append", "extend", "reverse", "shuffle", "update", "insert", "add", "clear", "fill", "backward"}


class Clues(Probe):
    """Writes the clues of a crash. Needs no torch: a script that only prepares data has crashes too."""

    name = "clues"

    def on_crash(self, error: BaseException) -> None:
        for clue in clues_of(error):
            self.recorder.observe(clue)


def clues_of(error: BaseException) -> Iterator[Observation]:
    """What the live objects around an exception tell."""
    kinds = type[BaseException] | tuple[type[BaseException], ...]
    finders: tuple[tuple[kinds, Callable[[BaseException], Observation | None]], ...] = (
        (KeyError, missing_key),
        (TypeError, failed_call),
        (ValueError, failed_unpack),
        (Exception, none_origin),
        (Exception, file_at_crash),
        ((AttributeError, TypeError, KeyError), left_out_type),
        (UnicodeDecodeError, undecodable_text),
        (ZeroDivisionError, used_up_generator),
        ((TypeError, ValueError), number_as_text),
        ((AttributeError, TypeError), missing_cell),
        ((TypeError, ValueError), text_column),
    )
    for kind, finder in finders:
        if isinstance(error, kind):
            clue = finder(error)
            if clue is not None:
                yield clue


def missing_key(error: BaseException) -> MissingKey | None:
    """The mapping or table in which a key was looked up in vain."""
    level = innermost_user(error.__traceback__)
    key = error.args[0] if error.args else None
    node = failing_expression(level) if level is not None else None
    scope = scope_at(level) if level is not None else None
    asked = _asked(node, scope) if scope is not None and node is not None else None
    if scope is None or asked is None:
        return None
    owner = _column(asked, scope)
    name = ast.unparse(asked)
    by_row = isinstance(asked, ast.Attribute) and asked.attr in ("loc", "at")
    if isinstance(asked, ast.Attribute) and by_row:
        owner = _column(asked.value, scope)
    known = _keys(owner, by_row and not isinstance(key, str))
    if known is None:
        return None
    texts = [str(k) for k in known]
    near = difflib.get_close_matches(str(key), texts, n=3, cutoff=0.6)
    return MissingKey(
        container=name,
        type=type_name(owner),
        key=repr(key)[:80],
        key_type=type(key).__name__,
        near=tuple(repr(known[texts.index(n)]) for n in near),
        keys=tuple(repr(k)[:40] for k in known[:_MOST_KEYS]),
        count=len(known),
        same_as_text=str(key) in texts and key not in known,
        is_position=_is_position(owner, key),
        rows=len(owner) if _is_table(owner) else 0,
        padded=sum(isinstance(k, str) and k != k.strip() for k in known),
        method=node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else "",
    )


def _asked(node: ast.expr, scope: Scope) -> ast.expr | None:
    """What is asked for a key: `d` of `d["k"]`, `d.pop("k")` and `itemgetter("k")(d)`."""
    if isinstance(node, ast.Subscript):
        return node.value
    if not isinstance(node, ast.Call):
        return None
    if isinstance(node.func, ast.Attribute) and node.func.attr in _KEY_METHODS:
        return node.func.value
    is_getter = isinstance(peek(node.func, scope), operator.itemgetter) or (
        isinstance(node.func, ast.Call) and called_name(node.func) == "itemgetter"
    )
    return node.args[0] if is_getter and len(node.args) == 1 else None


def _column(node: ast.expr, scope: Scope) -> Any:
    """The value of an expression; of `table["name"]` the column, which is read without running code of the user."""
    found = peek(node, scope)
    if found is MISSING and isinstance(node, ast.Subscript):
        table, name = peek(node.value, scope), peek(node.slice, scope)
        if _is_table(table) and isinstance(name, str) and name in table:
            return table[name]
    return found


def _is_table(thing: Any) -> bool:
    return type(thing).__module__.startswith("pandas") and hasattr(thing, "iloc")


def _is_position(owner: Any, key: Any) -> bool:
    """Whether a number that is no label of a table would be the place of one of its rows."""
    is_number = not isinstance(key, bool) and hasattr(key, "__index__")
    return is_number and _is_table(owner) and 0 <= int(key) < len(owner)


def _keys(owner: Any, by_row: bool = False) -> list[Any] | None:
    if isinstance(owner, Mapping):
        return list(owner)
    if type(owner).__module__.startswith("pandas") and hasattr(owner, "keys"):
        return list(owner.index if by_row and hasattr(owner, "index") else owner.keys())
    return None


def failed_call(error: BaseException) -> FailedCall | None:
    """The callable that refused its arguments, with its signature."""
    level = innermost_user(error.__traceback__)
    node = failing_expression(level) if level is not None else None
    if level is None or not isinstance(node, ast.Call) or "argument" not in str(error):
        return None
    target = peek(node.func, scope_at(level))
    if target is MISSING:
        return None
    function = _function_of(target)
    signature, parameters = _signature(target)
    return FailedCall(
        callee=ast.unparse(node.func),
        name=getattr(function, "__qualname__", type_name(target)),
        signature=signature,
        parameters=parameters,
        defined=_definition(function),
        given=len(node.args),
        keywords=tuple(k.arg for k in node.keywords if k.arg),
        is_module=_is_module(target),
        is_class=isinstance(target, type),
        lacks_self=_lacks_self(target, function),
    )


def failed_unpack(error: BaseException) -> FailedUnpack | None:
    """The tuple on the left of an assignment or a loop that got more or fewer values than it names."""
    level = innermost_user(error.__traceback__)
    node = failing_expression(level) if level is not None and "values to unpack" in str(error) else None
    if not isinstance(node, (ast.Tuple, ast.List)):
        return None
    span = f"{node.lineno}:{node.col_offset}-{node.end_lineno}:{node.end_col_offset}"
    return FailedUnpack(target=ast.unparse(node), span=span)


def _is_module(thing: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(thing, torch.nn.Module)


def _function_of(target: Any) -> Any:
    if _is_module(target):
        return inspect.getattr_static(type(target), "forward", None)
    if isinstance(target, type):
        return vars(target).get("__init__", target)
    return target.__func__ if isinstance(target, MethodType) else target


def _signature(target: Any) -> tuple[str, tuple[str, ...]]:
    callee = target.forward if _is_module(target) else target
    try:
        signature = inspect.signature(callee)
    except (TypeError, ValueError):
        return "", ()
    return str(signature)[:_LONGEST_SIGNATURE], tuple(signature.parameters)


def _definition(function: Any) -> Location | None:
    code = getattr(function, "__code__", None)
    if code is None or not is_user_file(code.co_filename):
        return None
    line = code.co_firstlineno
    for node in ast.walk(parsed(code.co_filename) or ast.Module(body=[], type_ignores=[])):
        if isinstance(node, ast.FunctionDef) and line in (node.lineno, *(d.lineno for d in node.decorator_list)):
            line = node.lineno
    return location(code.co_filename, line, function.__qualname__)


def _lacks_self(target: Any, function: Any) -> bool:
    """A method whose first parameter is not `self`, in a class of the user's."""
    if not isinstance(function, FunctionType) or not (_is_module(target) or isinstance(target, (MethodType, type))):
        return False
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return not names or names[0] not in ("self", "cls", "this", "_", "_self", "__self", "mcs")


def none_origin(error: BaseException) -> NoneOrigin | None:
    """Where a None came from: the assignment, and the function that returned nothing."""
    level = innermost_user(error.__traceback__)
    if level is None or not _NONE_MESSAGE.search(str(error)):
        return None
    unpacked = unpacked_value(level)
    frame, scope = level.tb_frame, scope_at(level)
    for candidate in _none_candidates(failing_expression(level)) if unpacked is None else (unpacked,):
        if peek(candidate, scope) is None or isinstance(candidate, ast.Call):
            return _origin(candidate, frame, level.tb_lineno)
    return None


def _none_candidates(node: ast.expr | None) -> Iterator[ast.expr]:
    """The parts of a failed expression that may have been the None."""
    if isinstance(node, ast.Call):
        yield from node.args
        if isinstance(node.func, ast.Attribute):
            yield node.func.value
    elif isinstance(node, (ast.Attribute, ast.Subscript)):
        yield node.value
    elif isinstance(node, ast.BinOp):
        yield from (node.left, node.right)
    elif node is not None:
        yield node


def _origin(node: ast.expr, frame: FrameType, line: int) -> NoneOrigin | None:
    tree = parsed(frame.f_code.co_filename)
    if tree is None:
        return None
    text = ast.unparse(node)
    maker: ast.expr | None = node if isinstance(node, ast.Call) else None
    assigned = None
    if maker is None:
        statement = last_assignment(enclosing_function(tree, frame), text, line + 1)
        if statement is None:
            return NoneOrigin(expression=text)
        assigned = location(frame.f_code.co_filename, statement.lineno, frame.f_code.co_qualname)
        maker = statement.value
    if not isinstance(maker, ast.Call):
        return NoneOrigin(expression=text, assigned=assigned)
    return _made_by(maker, frame, text, assigned)


def _made_by(
    call: ast.Call, scope: FrameType | FunctionType, text: str, assigned: Location | None, depth: int = 0
) -> NoneOrigin | None:
    name = ast.unparse(call.func)
    target = peek(call.func, scope) if isinstance(scope, FrameType) else _named_by(scope, call.func)
    function: Any = _function_of(target) if target is not MISSING else None
    body = _body(function)
    if body is None:
        mutator = name.rpartition(".")[2] in _MUTATORS
        return NoneOrigin(expression=text, assigned=assigned, maker=name, is_inplace_method=mutator)
    returns = [n for n in _own_nodes(body) if isinstance(n, ast.Return) and n.value is not None]
    inner = _handed_through(function, body, returns) if depth < _DEEPEST_RETURN else None
    if inner is not None:
        return _made_by(inner, function, text, assigned, depth + 1)
    file = function.__code__.co_filename
    return NoneOrigin(
        expression=text,
        assigned=assigned,
        maker=function.__qualname__.replace("<locals>.", ""),
        maker_defined=location(file, body.lineno, function.__qualname__),
        maker_end=location(file, body.body[-1].end_lineno or body.lineno, function.__qualname__),
        returns=len(returns),
    )


def _named_by(function: FunctionType, node: ast.expr) -> Any:
    """What a name means in a function that has ended: a global, or a method of the class it stands in."""
    if isinstance(node, ast.Name):
        return function.__globals__.get(node.id, MISSING)
    if not isinstance(node, ast.Attribute) or ast.unparse(node.value) not in ("self", "cls"):
        return MISSING
    owner = function.__globals__.get(function.__qualname__.rpartition(".")[0])
    return inspect.getattr_static(owner, node.attr, MISSING) if isinstance(owner, type) else MISSING


def _handed_through(function: FunctionType, body: ast.FunctionDef, returns: list[ast.Return]) -> ast.Call | None:
    """The one call of the user's own whose result is all that a function can have returned None by."""
    if _ends_without_value(body) or any(isinstance(n, ast.Return) and _is_none(n.value) for n in _own_nodes(body)):
        return None
    calls = [n.value for n in returns if isinstance(n.value, ast.Call)]
    own = [c for c in calls if _body(_named_by(function, c.func)) is not None]
    return own[0] if len(own) == 1 and len(calls) == len(returns) else None


def _is_none(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def _ends_without_value(body: ast.AST) -> bool:
    """Whether the end of a block can be reached, behind which a function returns None."""
    block = getattr(body, "body", [])
    last = block[-1] if block else None
    if isinstance(last, ast.If):
        return not last.orelse or any(
            _ends_without_value(ast.Module(body=b, type_ignores=[])) for b in (last.body, last.orelse)
        )
    if isinstance(last, (ast.With, ast.AsyncWith)):
        return _ends_without_value(last)
    if isinstance(last, ast.Try):
        ways = [last.orelse or last.body, *(handler.body for handler in last.handlers)]
        return any(_ends_without_value(ast.Module(body=b, type_ignores=[])) for b in ways)
    return not isinstance(last, (ast.Return, ast.Raise))


def _body(function: Any) -> ast.FunctionDef | None:
    if not isinstance(function, FunctionType) or not is_user_file(function.__code__.co_filename):
        return None
    tree = parsed(function.__code__.co_filename)
    where = _definition(function)
    if tree is None or where is None:
        return None
    return next((n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.lineno == where.line), None)


def _own_nodes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions inside it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            waiting.extend(ast.iter_child_nodes(node))
