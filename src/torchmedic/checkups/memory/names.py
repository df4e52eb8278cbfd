"""Modules by the dotted path below the outermost one that holds them."""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch.nn.modules import module as modules


class ModuleNames:
    """Learns the parts of every root once, and keeps it, so that no other module gets its identity."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._kept: list[torch.nn.Module] = []
        self._holders: dict[int, tuple[weakref.ref[torch.nn.Module], str]] = {}

    def watch(self) -> Any:
        """Note which module holds which: the one that is called first may be part of one that never is."""

        def note(holder: torch.nn.Module, name: str, part: torch.nn.Module | None) -> None:
            if part is not None:
                self._holders[id(part)] = weakref.ref(holder), name

        return modules.register_module_module_registration_hook(note)

    def learn(self, root: torch.nn.Module) -> None:
        if id(root) in self._names:
            return
        top = self._outermost(root)
        self._kept.append(top)
        paths = list(top.named_modules())
        taken = set(self._names.values())
        # Parts of a second model by the names of the first's would be taken for them.
        prefix = f"{type(top).__name__}." if any(path in taken for path, _ in paths if path) else ""
        for path, part in paths:
            self._names.setdefault(id(part), prefix + path if path else type(top).__name__)

    def _outermost(self, module: torch.nn.Module) -> torch.nn.Module:
        seen = {id(module)}
        while id(module) in self._holders:
            reference, name = self._holders[id(module)]
            holder = reference()
            if holder is None or id(holder) in seen or holder._modules.get(name) is not module:
                break
            seen.add(id(holder))
            module = holder
        return module

    def of(self, module: torch.nn.Module) -> str:
        return self._names.get(id(module), type(module).__name__)
