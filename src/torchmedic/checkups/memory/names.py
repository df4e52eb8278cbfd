"""Modules by the dotted path below the one that was called first."""

from __future__ import annotations

import torch


class ModuleNames:
    """Learns the parts of every root once, and keeps it, so that no other module gets its identity."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._kept: list[torch.nn.Module] = []

    def learn(self, root: torch.nn.Module) -> None:
        if id(root) not in self._names:
            self._kept.append(root)
            for name, part in root.named_modules():
                self._names.setdefault(id(part), name or type(root).__name__)

    def of(self, module: torch.nn.Module) -> str:
        return self._names.get(id(module), type(module).__name__)
