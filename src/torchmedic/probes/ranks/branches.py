"""Lines that write weights under an `if` that chooses ranks, found in the source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchmedic.facts import Location
from torchmedic.probes.source.expressions import called_name, parsed
from torchmedic.probes.source.frames import location
from torchmedic.probes.source.sources import user_files

_CHOOSES = re.compile(r"rank|is_main|is_master|main_process|global_zero")
_WEIGHTS = re.compile(r"\.(?:weight|bias|data)\b|\bparam")
_ALL = re.compile(r"\b(?:named_)?parameters\(|\bstate_dict\(")
_INTO_ARGUMENT = ("vector_to_parameters",)
_NO_WRITES = ("requires_grad_", "detach_", "share_memory_")


def writes_by_rank() -> tuple[Location, ...]:
    """The first such line of every `if` in the user's files."""
    found = {}
    for file in user_files():
        tree = parsed(file)
        writers = set(_writers(tree)) if tree is not None else set()
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.If) and _CHOOSES.search(ast.unparse(node.test)):
                line = min(_lines(node, writers), default=0)
                if line:
                    found[file, line] = location(file, line)
    return tuple(found.values())


def _writers(tree: ast.Module) -> Iterator[str]:
    """Functions that write weights themselves."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and any(_writes(node)):
            yield node.name


def _lines(branch: ast.If, writers: set[str]) -> Iterator[int]:
    yield from _writes(branch)
    for node in ast.walk(branch):
        if isinstance(node, ast.Call) and called_name(node).rpartition(".")[2] in writers:
            yield node.lineno


def _writes(scope: ast.AST) -> Iterator[int]:
    """Lines that change weights in place, or put others there."""
    loops = [node for node in ast.walk(scope) if isinstance(node, ast.For) and _ALL.search(ast.unparse(node.iter))]
    of_weights = {name.id for loop in loops for name in ast.walk(loop.target) if isinstance(name, ast.Name)}
    for node in ast.walk(scope):
        if (isinstance(node, ast.Call) and _is_write(node, of_weights)) or (
            isinstance(node, ast.Assign) and any(_is_data(target) for target in node.targets)
        ):
            yield node.lineno


def _is_write(call: ast.Call, of_weights: set[str]) -> bool:
    name = called_name(call).rpartition(".")[2]
    if name in _INTO_ARGUMENT:
        return True
    if not name.endswith("_") or name.endswith("__") or name in _NO_WRITES or not isinstance(call.func, ast.Attribute):
        return False
    of_init = ast.unparse(call.func.value).endswith("init")
    written = call.args[0] if of_init and call.args else call.func.value
    words = ast.unparse(written)
    if ".grad" in words:
        return False
    return bool(_WEIGHTS.search(words)) or words.partition(".")[0] in of_weights


def _is_data(target: ast.expr) -> bool:
    owner = target.value if isinstance(target, ast.Subscript) else target
    return isinstance(owner, ast.Attribute) and owner.attr in ("data", "weight", "bias")
