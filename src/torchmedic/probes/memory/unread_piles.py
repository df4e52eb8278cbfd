"""Tensors without a graph that pile up in a container which the script fills and never looks into, but for the last."""

from __future__ import annotations

import ast
import weakref
from collections.abc import Iterator
from types import FrameType

import torch

from torchmedic.facts import PiledTensors
from torchmedic.probes.objects.keepers import STORING, storing_statement
from torchmedic.probes.objects.name_paths import Keeper, keepers_of
from torchmedic.probes.source.expressions import called_name, parsed
from torchmedic.probes.source.sources import user_files

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_MAKERS = frozenset(("list", "dict", "deque", "defaultdict", "OrderedDict"))
_EACH_STEP = 0.5  # tensors that are new for every step between two looks
_LEAST_BYTES_A_STEP = 32 << 10
_ENOUGH = 150  # of a large container not every item is reached


class UnreadPiles:
    """Compares what is alive at two looks; what grew between both pairs of looks by every step is a pile."""

    def __init__(self) -> None:
        self._known: dict[int, weakref.ref[torch.Tensor]] | None = None
        self._at = 0
        self._grew: set[str] = set()
        self.found: dict[str, PiledTensors] = {}

    def look(self, tensors: list[torch.Tensor], step: int, frame: FrameType | None) -> None:
        """Take these tensors, alive at a step, for all that there are."""
        steps, known = step - self._at, self._known
        # The identity of a tensor that is gone is given to another one.
        new = [t for t in tensors if id(t) not in known or known[id(t)]() is not t] if known is not None else []
        self._known, self._at = {id(t): weakref.ref(t) for t in tensors}, step
        growing: set[str] = set()
        if new and len(new) >= _EACH_STEP * steps and own_bytes(new) >= _LEAST_BYTES_A_STEP * steps:
            for keeper, held in keepers_of(new, frame):
                is_pile = keeper.container and len(held) >= min(_ENOUGH, _EACH_STEP * steps)
                if is_pile and own_bytes(held) >= _LEAST_BYTES_A_STEP * len(held) and is_never_read(keeper.name):
                    growing.add(keeper.path)
                    self._note(keeper, held, steps, step)
        self._grew = growing

    def _note(self, keeper: Keeper, held: list[torch.Tensor], steps: int, step: int) -> None:
        if keeper.path not in self._grew:
            return
        storing = storing_statement(keeper, cut_off=True)
        self.found[keeper.path] = PiledTensors(
            step=step,
            path=keeper.path,
            container=keeper.outermost,
            count=len(held),
            bytes=own_bytes(held),
            steps=steps,
            value=storing.value,
            where=storing.where,
            stored=storing.stored,
            last_read=any(_last_taken(tree, keeper.name) for tree in _trees()),
        )


def own_bytes(tensors: list[torch.Tensor]) -> int:
    """What some tensors take together; views of one storage take it once."""
    storages = [t.untyped_storage() for t in tensors if t.layout is torch.strided]
    return sum({each.data_ptr(): each.nbytes() for each in storages}.values())


def is_never_read(name: str) -> bool:
    """Whether the script's files only make a container of this name, once, and put things into it."""
    trees = _trees()
    return bool(trees) and not any(True for tree in trees for _ in _uses(tree, name))


def _trees() -> list[ast.Module]:
    return [tree for file in user_files() if (tree := parsed(file)) is not None]


def _uses(tree: ast.Module, name: str) -> Iterator[ast.AST]:
    """What reads, hands on, empties or makes anew the thing of a name.

    >>> list(_uses(ast.parse("kept = []\\nfor x in data:\\n  kept.append(x)"), "kept"))
    []
    >>> len(list(_uses(ast.parse("kept = []\\nkept.append(x)\\nprint(kept[0])"), "kept")))
    1
    """
    harmless = _stored_into(tree, name) | _made_once(tree, name) | _last_taken(tree, name)
    for node in ast.walk(tree):
        is_named = getattr(node, "id", None) == name or getattr(node, "attr", None) == name
        is_text = isinstance(node, ast.Constant) and node.value == name
        is_handed_in = isinstance(node, ast.arg) and node.arg == name
        if (is_named and id(node) not in harmless) or is_text or is_handed_in:
            yield node


def _stored_into(tree: ast.Module, name: str) -> set[int]:
    """Places where the name stands only because something is put under it, or its length or a key is asked for."""
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            called = node.value.func
            if isinstance(called, ast.Attribute) and called.attr in STORING:
                found.add(id(called.value.value if isinstance(called.value, ast.Subscript) else called.value))
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            found.add(id(node.value))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" and node.args:
            found.add(id(node.args[0]))
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            found.add(id(node.comparators[0]))
    return found


def _last_taken(tree: ast.Module, name: str) -> set[int]:
    """Places where the last thing that was put under a name is taken: `kept[-1]`, `kept[key][-1]`."""
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and ast.unparse(node.slice) == "-1":
            inside = node.value.value if isinstance(node.value, ast.Subscript) else node.value
            if name in (getattr(inside, "id", None), getattr(inside, "attr", None)):
                found.add(id(inside))
    return found


def _made_once(tree: ast.Module, name: str) -> set[int]:
    """Targets of assignments that make the container, outside loops: by the module, by a class, or for two loops."""
    found: set[int] = set()
    for scope in (n for n in ast.walk(tree) if isinstance(n, (ast.Module, ast.ClassDef, ast.FunctionDef))):
        is_for_good = not isinstance(scope, ast.FunctionDef) or scope.name == "__init__" or _nests_loops(scope)
        for statement in scope.body if is_for_good else ():
            targets = statement.targets if isinstance(statement, ast.Assign) else []
            targets = [statement.target] if isinstance(statement, ast.AnnAssign) else targets
            if targets and _makes_container(statement.value):  # type: ignore[attr-defined]
                found |= {id(target) for target in targets}
    return found


def _makes_container(value: ast.expr | None) -> bool:
    if isinstance(value, ast.Call):
        return called_name(value) in _MAKERS and not any(each.arg == "maxlen" for each in value.keywords)
    if isinstance(value, (ast.DictComp, ast.ListComp)):
        return _makes_container(value.value if isinstance(value, ast.DictComp) else value.elt)
    return isinstance(value, (ast.List, ast.Dict))


def _nests_loops(scope: ast.FunctionDef) -> bool:
    loops = [node for node in ast.walk(scope) if isinstance(node, _LOOPS)]
    return any(inner is not outer and isinstance(inner, _LOOPS) for outer in loops for inner in ast.walk(outer))
