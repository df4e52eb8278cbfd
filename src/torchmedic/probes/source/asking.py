"""Whether a function of the user's may be asked for a value out of turn: it changes nothing and draws nothing."""

from __future__ import annotations

import builtins
import dis
import functools
import inspect
from collections.abc import Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from torch import nn

from torchmedic.probes.source.frames import COMPREHENSIONS

_MOST_FUNCTIONS = 20
_CHANGING = ("STORE_GLOBAL", "STORE_ATTR", "STORE_SUBSCR", "STORE_DEREF", "STORE_NAME", "DELETE_", "IMPORT_", "YIELD")
_HARMLESS = frozenset(
    (abs, bool, dict, divmod, enumerate, float, int, isinstance, len, list, max, min, pow, range, reversed, round, set)
) | {sorted, str, sum, tuple, zip}
_MODULES = frozenset(("math", "cmath", "numpy", "bisect", "operator"))
_LOOPS = COMPREHENSIONS | {"<genexpr>"}
_PLAIN = (int, float, complex, str, bytes, bool, tuple, list, dict, set, frozenset, range, type(None))
_CHANGING_METHODS = frozenset(("append", "add", "pop", "popleft", "extend", "insert", "remove", "clear", "update"))
_TURNING = frozenset(("sort", "reverse", "setdefault", "random", "next", "send", "write"))


def may_be_asked(function: Any) -> bool:
    """Whether calling this leaves everything as it was; False wherever that cannot be seen."""
    return _is_harmless(function, set(), frozenset())


def _is_harmless(thing: Any, seen: set[CodeType], names: frozenset[str]) -> bool:
    """Whether what a function reaches by a name can be called; of other things it may only read what is no method."""
    if isinstance(thing, functools.partial):
        return _is_harmless(thing.func, seen, names)
    if isinstance(thing, MethodType):
        return _is_harmless(thing.__func__, seen, names) and _is_read_only(thing.__self__, seen, names)
    if isinstance(thing, FunctionType):
        return _is_function_harmless(thing, seen)
    if isinstance(thing, (BuiltinFunctionType, type)):
        return thing in _HARMLESS or (thing.__module__ or "").partition(".")[0] in _MODULES
    if isinstance(thing, ModuleType):
        return thing.__name__ in _MODULES
    if isinstance(thing, _PLAIN):
        return True
    return _is_read_only(thing, seen, names) and _is_call_harmless(thing, seen)


def _is_call_harmless(thing: Any, seen: set[CodeType]) -> bool:
    """Of an object that can be called; a model is held for its settings, nobody computes a rate by running it."""
    if not callable(thing) or isinstance(thing, nn.Module):
        return True
    called = inspect.getattr_static(type(thing), "__call__", None)
    return isinstance(called, FunctionType) and _is_function_harmless(called, seen)


def _is_function_harmless(function: FunctionType, seen: set[CodeType]) -> bool:
    code = function.__code__
    if code in seen:
        return True
    seen.add(code)
    if len(seen) > _MOST_FUNCTIONS or _changes(code):
        return False
    names = frozenset(name for part in _with_loops(code) for name in part.co_names)
    reached = [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]
    reached += [function.__globals__.get(name, getattr(builtins, name, None)) for name in _globals_of(code)]
    return all(_is_harmless(thing, seen, names) for thing in reached)


def _changes(code: CodeType) -> bool:
    return any(
        (part.co_name not in _LOOPS and part is not code)
        or not (_CHANGING_METHODS | _TURNING).isdisjoint(part.co_names)
        or any(_is_change(one, part) for one in dis.get_instructions(part))
        for part in _with_loops(code)
    )


def _with_loops(code: CodeType) -> Iterator[CodeType]:
    """A function's code and what is written inside of it: up to Python 3.11 that of comprehensions is apart too."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _with_loops(constant)


def _is_change(one: dis.Instruction, code: CodeType) -> bool:
    """Whether an instruction changes more than the function's own variables, which its inner loops may share."""
    if one.opname == "STORE_DEREF":
        return one.argval in code.co_freevars
    if code.co_name == "<genexpr>" and one.opname.startswith("YIELD"):
        return False
    return one.opname.startswith(_CHANGING)


def _globals_of(code: CodeType) -> set[str]:
    read = (one for part in _with_loops(code) for one in dis.get_instructions(part))
    return {str(one.argval) for one in read if one.opname in ("LOAD_GLOBAL", "LOAD_NAME")}


def _is_read_only(thing: Any, seen: set[CodeType], names: frozenset[str]) -> bool:
    """Whether each method of an object that these names may mean is harmless itself."""
    for name in names:
        method = getattr(type(thing), name, None)
        method = method.fget if isinstance(method, property) else method
        is_harmless = _is_function_harmless(method, seen) if isinstance(method, FunctionType) else not callable(method)
        if not is_harmless:
            return False
    return not hasattr(type(thing), "__next__")


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False
