"""The optimizers that the script built, and those of them that have not stepped yet."""

from __future__ import annotations

import weakref
from collections.abc import Container
from typing import Any

from torch.optim import Optimizer

from torchmedic.checkups.memory.patches import Patches
from torchmedic.facts import Location
from torchmedic.probes.source.frames import user_location


class Waiting:
    """Knows each optimizer from its birth: some step once for several steps of another one."""

    def __init__(self) -> None:
        self._built: list[tuple[weakref.ref[Any], Location | None, bool]] = []

    def watch(self, patches: Patches) -> None:
        build: Any = Optimizer.__init__

        def init(this: Any, *args: Any, **kwargs: Any) -> None:
            build(this, *args, **kwargs)
            self._built.append((weakref.ref(this), user_location(), _learns(this)))

        patches.put(Optimizer, "__init__", init)

    def for_some(self, stepped: Container[int]) -> list[Location | None]:
        """Where those were built that hold parameters to be trained and are not among those that stepped."""
        found = []
        for reference, where, learned in self._built:
            one = reference()
            if one is None or id(one) in stepped or isinstance(getattr(one, "optimizer", None), Optimizer):
                continue
            # Adversaries freeze each other's parameters for a while.
            if learned or _learns(one):
                found.append(where)
        return found


def _learns(optimizer: Any) -> bool:
    return any(parameter.requires_grad for group in optimizer.param_groups for parameter in group["params"])
