"""Which of a model's numbered blocks are frozen, and the line of the script that chose them by their names."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from torch import nn

from torchmedic.facts import FrozenNumbers, Location
from torchmedic.probes.source.frames import location
from torchmedic.probes.source.sources import freezes, user_nodes

# Up to ten blocks every number has one digit, and none is part of another.
_MANY = 11


def frozen_numbers(roots: Iterable[nn.Module], step: int) -> Iterator[FrozenNumbers]:
    """Lists of blocks of which some are frozen as a whole and others are not, where names decided."""
    found = [
        (path, *_divided(part)) for root in roots for path, part in root.named_modules() if len(part._modules) >= _MANY
    ]
    mixed = [(path, frozen, trained) for path, frozen, trained in found if frozen and trained]
    where = _chosen_at() if mixed else None
    for path, frozen, trained in mixed if where is not None else ():
        yield FrozenNumbers(step=step, path=path, frozen=frozen, trained=trained, where=where)


def _divided(part: nn.Module) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The numbers of the blocks that are frozen, and of those that are not."""
    flags = {
        int(name): any(p.requires_grad for p in block.parameters())
        for name, block in part.named_children()
        if name.isdecimal() and any(True for _ in block.parameters())
    }
    frozen = tuple(number for number, learns in flags.items() if not learns)
    return frozen, tuple(number for number, learns in flags.items() if learns)


def _chosen_at() -> Location | None:
    """The test `… in name` under which a line switches gradients off."""
    for file, node in user_nodes():
        if isinstance(node, ast.If) and _has_freezing(node):
            for test in ast.walk(node.test):
                if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.In):
                    return location(file, node.lineno)
    return None


def _has_freezing(node: ast.If) -> bool:
    inside = (inner for part in node.body for inner in ast.walk(part) if isinstance(inner, ast.stmt))
    return any(True for inner in inside for _ in freezes(inner))
