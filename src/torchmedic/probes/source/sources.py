"""Finds lines in the user's sources by their syntax: assignments to attributes, grad-free blocks, freezing."""

from __future__ import annotations

import ast
import functools
import itertools
import os
import sys
from collections.abc import Iterator
from types import FrameType
from typing import TypeGuard

from torchmedic.facts import Location
from torchmedic.probes.source.expressions import MOST_FILES, called_name, parsed, walked
from torchmedic.probes.source.frames import file_of, is_user_file, location, shown_path

_GRAD_FREE = ("no_grad", "inference_mode", "set_grad_enabled")
_FIXED_VALUES = ("constant_", "eye_", "dirac_", "ones_", "zeros_")


def user_files() -> tuple[str, ...]:
    """The files of the user's own modules that are loaded, those nearest to the script where there are many."""
    newest = next(reversed(sys.modules.values()))
    return _files_among(len(sys.modules), getattr(newest, "__file__", None) or "")


@functools.lru_cache(maxsize=1)
def _files_among(modules: int, newest: str) -> tuple[str, ...]:
    """The same, looked up anew only when other modules are loaded: there may be thousands, and many ask."""
    found = dict.fromkeys(getattr(module, "__file__", None) or "" for module in list(sys.modules.values()))
    files = [file for file in found if file.endswith(".py") and is_user_file(file) and os.path.exists(file)]
    script = getattr(sys.modules.get("__main__"), "__file__", None) or ""
    nearest = set(sorted(files, key=lambda file: _ways_apart(file, script))[:MOST_FILES])
    return tuple(file for file in files if file in nearest)


def _ways_apart(file: str, script: str) -> int:
    """How many folders lie between two files.

    >>> _ways_apart("/a/train.py", "/a/train.py"), _ways_apart("/a/nets/unet.py", "/a/train.py")
    (0, 1)
    >>> _ways_apart("/lib/big/deep/x.py", "/a/train.py")
    4
    """
    one, other = (os.path.dirname(os.path.abspath(each)).split(os.sep) for each in (file, script))
    shared = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    return len(one) + len(other) - 2 * shared


def user_nodes() -> Iterator[tuple[str, ast.AST]]:
    """Every node of the user's code, with its file."""
    for file in user_files():
        yield from ((file, node) for node in walked(file))


def user_files_behind(frames: list[FrameType]) -> list[str]:
    """The same, those of the given calls first, innermost call first."""
    called = [frame.f_code.co_filename for frame in reversed(frames)]
    return list(dict.fromkeys([*filter(is_user_file, called), *user_files()]))


def file_at(place: Location | None) -> str:
    """The file of a place, which is told as the user would type it; nothing where it is not loaded."""
    return next((file for file in user_files() if place is not None and shown_path(file) == place.file), "")


def hung_at(kind: type, attribute: str) -> Location | None:
    """The line of a class that first gives `self.attribute` its value; of any file, where the class has none."""
    for cls in kind.__mro__:
        file = file_of(cls)
        tree = parsed(file) if file and is_user_file(file) else None
        for node in ast.walk(tree) if tree else ():
            if isinstance(node, ast.ClassDef) and node.name == cls.__name__:
                line = _assignment(node, attribute)
                if line:
                    return location(file, line, f"{cls.__qualname__}.__init__")
    return assigned_anywhere(attribute)


def filled_by(kind: type, attribute: str) -> tuple[str, ast.Call] | None:
    """The first `self.attribute.append(…)` of a class, and its file: what a list that begins empty is filled by."""
    for cls in kind.__mro__:
        file = file_of(cls)
        tree = parsed(file) if file and is_user_file(file) else None
        for node in ast.walk(tree) if tree else ():
            if isinstance(node, ast.ClassDef) and node.name == cls.__name__:
                calls = [call for call in ast.walk(node) if isinstance(call, ast.Call) and _appends(call, attribute)]
                if calls:
                    return file, min(calls, key=lambda call: call.lineno)
    return None


def _appends(call: ast.Call, attribute: str) -> bool:
    return (
        isinstance(call.func, ast.Attribute)
        and call.func.attr in ("append", "extend")
        and ast.unparse(call.func.value) == f"self.{attribute}"
        and len(call.args) == 1
    )


def assigned_anywhere(attribute: str) -> Location | None:
    """The first line of the user's files that assigns to some object's attribute of this name."""
    for file in user_files():
        tree = parsed(file)
        line = _assignment(tree, attribute) if tree else 0
        if line:
            return location(file, line)
    return None


def called_at(name: str) -> Location | None:
    """The first line of the user's files that calls something of this name: where an object of a class is built."""
    for file in user_files():
        tree = parsed(file)
        calls = [node for node in (ast.walk(tree) if tree else ()) if isinstance(node, ast.Call)]
        lines = [call.lineno for call in calls if called_name(call) == name]
        if lines:
            return location(file, min(lines))
    return None


def variable_made_at(name: str) -> Location | None:
    """The first line of the user's files that gives a variable of this name its value."""
    for file in user_files():
        tree = parsed(file)
        lines = [
            target.lineno
            for node in (ast.walk(tree) if tree else ())
            for target in _targets(node)
            if isinstance(target, ast.Name) and target.id == name
        ]
        if lines:
            return location(file, min(lines))
    return None


def _assignment(scope: ast.AST, attribute: str) -> int:
    lines = [
        target.lineno
        for node in ast.walk(scope)
        for target in _targets(node)
        if isinstance(target, ast.Attribute) and target.attr == attribute
    ]
    return min(lines, default=0)


def _targets(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return [t for target in node.targets for t in (target.elts if isinstance(target, ast.Tuple) else [target])]
    if isinstance(node, (ast.AnnAssign, ast.AugAssign)):
        return [node.target]
    return []


def grad_free_block(file: str, line: int, function: str) -> Location | None:
    """The `with torch.no_grad():` line or the decorator that switches gradients off around a line."""
    tree = parsed(file)
    if tree is None:
        return None
    best: int | None = None
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt) or not node.lineno <= line <= (node.end_lineno or 0):
            continue
        marks: list[int] = []
        if isinstance(node, (ast.With, ast.AsyncWith)):
            marks = [node.lineno for item in node.items if _is_grad_free(item.context_expr)]
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            marks = [mark.lineno for mark in node.decorator_list if _is_grad_free(mark)]
        best = max([best or 0, *marks]) or None
    return location(file, best, function) if best else None


def _is_grad_free(node: ast.expr) -> bool:
    call = node.func if isinstance(node, ast.Call) else node
    name = call.attr if isinstance(call, ast.Attribute) else call.id if isinstance(call, ast.Name) else ""
    if name == "set_grad_enabled" and isinstance(node, ast.Call):
        return not (node.args and isinstance(node.args[0], ast.Constant) and node.args[0].value is True)
    return name in _GRAD_FREE


def grad_switched_off() -> Location | None:
    """A call of `torch.set_grad_enabled(False)` as a statement of its own."""
    for file, node in _statements():
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _is_grad_free(node.value):
            return location(file, node.lineno)
    return None


def is_given_values(layer: str) -> bool:
    """Whether the script writes values of its own into the weight of a layer, by the name that it hangs under."""
    return any(_gives_values(node, layer) for _, node in user_nodes())


def _gives_values(node: ast.AST, layer: str) -> bool:
    weight = f".{layer}.weight"
    if isinstance(node, ast.Call):
        written = ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) else ""
        if called_name(node) in _FIXED_VALUES and node.args:
            written = ast.unparse(node.args[0])
        elif called_name(node) != "copy_":
            return False
        return written.removesuffix(".data").endswith(weight)
    targets = [t.value if isinstance(t, ast.Subscript) else t for t in _targets(node)]
    return any(ast.unparse(target).removesuffix(".data").endswith(weight) for target in targets)


def freezes(node: ast.stmt) -> Iterator[int]:
    """The lines of a statement that switch gradients off."""
    if isinstance(node, ast.Assign) and any(
        isinstance(t, ast.Attribute) and t.attr == "requires_grad" for t in node.targets
    ):
        yield node.lineno
    for call in ast.walk(node) if isinstance(node, (ast.Expr, ast.Assign)) else ():
        named = (
            isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "requires_grad_"
        )
        if named and isinstance(call, ast.Call) and [ast.unparse(a) for a in call.args] == ["False"]:
            yield call.lineno


def thaws() -> bool:
    """Whether any line switches a gradient on, or may do so: the run may have ended before it came to it."""
    return any(_thaws(node) for _, node in user_nodes())


def _thaws(node: ast.AST) -> bool:
    if isinstance(node, ast.Assign):
        is_flag = any(isinstance(t, ast.Attribute) and t.attr == "requires_grad" for t in node.targets)
        return is_flag and ast.unparse(node.value) != "False"
    if not isinstance(node, ast.Call):
        return False
    name = called_name(node)
    return "unfreeze" in name or (name == "requires_grad_" and [ast.unparse(a) for a in node.args] != ["False"])


def _statements() -> Iterator[tuple[str, ast.stmt]]:
    yield from ((file, node) for file, node in user_nodes() if isinstance(node, ast.stmt))


def dropout_calls(kind: type) -> Iterator[tuple[Location, str]]:
    """Calls of `F.dropout` and its kin in a class of the user that leave `training` at its default, which is True."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None) or ""
    tree = parsed(file) if file and is_user_file(file) else None
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.ClassDef) and node.name == kind.__name__:
            for call in ast.walk(node):
                name = _functional_dropout(call)
                if name and isinstance(call, ast.Call):
                    yield location(file, call.lineno, f"{kind.__qualname__}.forward"), name


def _functional_dropout(node: ast.AST) -> str:
    """The name of a dropout that takes no notice of the mode: a function without `training`, or a module made anew."""
    made = node.func if isinstance(node, ast.Call) else None
    if isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute) and made.func.attr.startswith("Dropout"):
        return ast.unparse(made.func)
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return ""
    name = node.func.attr
    owner = ast.unparse(node.func.value)
    known = name in ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")
    if not known or owner not in ("F", "nn.functional", "torch.nn.functional", "functional"):
        return ""
    off = any(isinstance(a, ast.Constant) and a.value in (0, 0.0) for a in node.args[1:2])
    told = len(node.args) > 2 or any(k.arg in ("training", None) for k in node.keywords)
    return "" if told or off else f"F.{name}"


def padding_lines(label: int) -> tuple[tuple[Location, str], ...]:
    """Lines of the user's files that fill a sequence up with a number: `pad_sequence(x)`, `x + [0] * missing`."""
    found = ((file, node) for file, node in user_nodes() if _fills_up(node, label))
    return tuple((location(file, node.lineno), ast.unparse(node)) for file, node in found if isinstance(node, ast.expr))


def _fills_up(node: ast.AST, label: int) -> TypeGuard[ast.expr]:
    if isinstance(node, ast.Call):
        return called_name(node) == "pad_sequence" and _padding_value(node) == str(label)
    repeated = node.left if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) else None
    return isinstance(repeated, ast.List) and [ast.unparse(item) for item in repeated.elts] == [str(label)]


def _padding_value(call: ast.Call) -> str:
    told = [keyword.value for keyword in call.keywords if keyword.arg == "padding_value"] or call.args[2:3]
    return ast.unparse(told[0]) if told else "0"


def inner_module_call() -> Location | None:
    """The first line that computes with a part of a wrapper's inner module: `model.module.encoder(x)`."""
    for file in user_files():
        tree = parsed(file)
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)] if tree is not None else []
        lines = [call.lineno for call in calls if call.args and _reaches_inside(call.func)]
        if lines:
            return location(file, min(lines))
    return None


def _reaches_inside(node: ast.expr) -> bool:
    """`x.module.forward`, `x.module[0]`, but not what handles weights as a whole."""
    if isinstance(node, ast.Attribute) and node.attr in ("load_state_dict", "to", "train", "apply", "register_buffer"):
        return False
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
        if isinstance(node, ast.Attribute) and node.attr == "module":
            return True
    return False
