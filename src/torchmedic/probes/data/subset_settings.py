"""Attributes that a script sets on a `Subset`, which hands out samples without ever reading them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from torch.utils.data import Subset

from torchmedic.facts import SettingOnSubset
from torchmedic.probes.objects.values import type_name
from torchmedic.probes.source.expressions import parsed
from torchmedic.probes.source.frames import location
from torchmedic.probes.source.sources import user_files
from torchmedic.record import Probe, Recorder

_OWN = ("dataset", "indices")
_MOST_LOADERS = 24


class SubsetSettings(Probe):
    """Looks at the data set of every loader once, at its first batch."""

    name = "subset-settings"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._met: set[int] = set()

    def on_batch(self, batch: Any, iterator: Any) -> None:
        key = id(iterator._index_sampler)
        if key not in self._met and len(self._met) < _MOST_LOADERS:
            self._met.add(key)
            # A class of the user's own may read what it is given.
            if type(iterator._dataset) is Subset:
                self._look(iterator._dataset)

    def _look(self, subset: Any) -> None:
        below = subset.dataset
        while type(below) is Subset:
            below = below.dataset
        kept = getattr(below, "__dict__", {})
        for name, value in vars(subset).items():
            if name in _OWN or name not in kept or kept[name] is value:
                continue
            lines = list(_setting_lines(name))
            if len(lines) == 1 and not _is_read(name):
                file, node = lines[0]
                self.recorder.observe(
                    SettingOnSubset(
                        step=self.recorder.step,
                        attribute=name,
                        text=ast.unparse(node),
                        where=location(file, node.lineno),
                        subset=ast.unparse(node.targets[0]).rpartition(".")[0],
                        dataset=type_name(below),
                        value=type_name(value),
                        kept=type_name(kept[name]),
                    )
                )


def _setting_lines(name: str) -> Iterator[tuple[str, ast.Assign]]:
    """`part.name = …`, but not of an object's own."""
    for file in user_files():
        for node in ast.walk(parsed(file) or ast.Module([], [])):
            target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
            is_it = isinstance(target, ast.Attribute) and target.attr == name and not _is_own(target)
            if isinstance(node, ast.Assign) and is_it:
                yield file, node


def _is_read(name: str) -> bool:
    """Whether the script asks some other thing than `self` for it: that may be the part of the split."""
    trees = [parsed(file) or ast.Module([], []) for file in user_files()]
    found = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == name)
    return any(isinstance(node.ctx, ast.Load) and not _is_own(node) for node in found)


def _is_own(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "self"
