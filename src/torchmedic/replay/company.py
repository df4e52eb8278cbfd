"""The ranks that train together: they enter a replay together, run every pass together, and leave together.

They speak through the key-value store of the process group, and only when a step is sick, but for one word at the
beginning of a training on cards: a healthy step costs no message. That a step is sick needs no vote, because gradients
have been averaged over all ranks by then, and what is not finite in one of them is not finite in all.
"""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Iterable, Iterator
from typing import Any

import torch
import torch.distributed as dist

ASSEMBLY_SECONDS = 20.0
_PASS_SECONDS = 300.0
_meetings = 0

# Probes that of sharded parameters would see a part, or exchange messages to see the whole.
_EXAMS = (
    "average",
    "borrowed",
    "cut",
    "cycle",
    "evaluation",
    "gradient",
    "leaf",
    "mode",
    "rebinding",
    "resume",
    "reuse",
    "rounding",
    "zero",
)
READING_WEIGHTS = frozenset((*[f"{exam}-exam" for exam in _EXAMS], "pulse", "vitals", "lineage"))


class Company:
    """All ranks at one sick step. A process alone is its own company."""

    def __init__(self, wrappers: list[Any] | None = None) -> None:
        self._wrappers = wrappers or []
        self.is_alone = not (dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1)
        self._is_broken = False

    def assembles(self) -> bool:
        """Whether all ranks come to this step as a sick one; one that is sick alone waits for the others in vain."""
        self._meet(False, ASSEMBLY_SECONDS)
        return not self._is_broken

    def any(self, said: bool) -> bool:
        """Whether any rank says yes; all have to ask at the same place."""
        return self._meet(said, _PASS_SECONDS)

    def announce(self, matter: str, said: bool) -> None:
        """Tell the others yes or no, and go on."""
        with contextlib.suppress(RuntimeError):  # a store that is gone has nobody who could hear
            _store().add(matter, int(said))

    def all_announced(self, matter: str) -> bool:
        """Whether every rank has said yes by now."""
        try:
            return bool(_store().add(matter, 0) == dist.get_world_size())
        except RuntimeError:
            return False

    def _meet(self, said: bool, seconds: float) -> bool:
        if self.is_alone or self._is_broken:
            return said
        global _meetings
        _meetings += 1
        store, key = _store(), f"meeting {_meetings}"
        try:
            store.add(f"{key} yes", int(said))
            if store.add(f"{key} came", 1) == dist.get_world_size():
                store.set(f"{key} all", "1")
            store.wait([f"{key} all"], datetime.timedelta(seconds=seconds))
            return bool(store.add(f"{key} yes", 0) > 0)
        except RuntimeError:  # torch's own time-outs are among them
            self._is_broken = True
            return said

    @contextlib.contextmanager
    def local_gradients(self) -> Iterator[None]:
        """Let each rank keep the gradients of its own batch: after the exchange all ranks have the same bad ones."""
        before = [(module, module.require_backward_grad_sync) for module in self._wrappers]
        for module, _ in before:
            module.require_backward_grad_sync = False
        try:
            yield
        finally:
            for module, exchanges in before:
                module.require_backward_grad_sync = exchanges


def wrappers_in(modules: Iterable[Any]) -> list[Any]:
    """The `DistributedDataParallel` modules among the script's."""
    return [m for m in modules if isinstance(m, torch.nn.parallel.DistributedDataParallel)]


def is_sharded(optimizer: Any) -> bool:
    """Whether an optimizer's parameters are spread over ranks (`fully_shard`, tensor parallel layers)."""
    return any(hasattr(p, "_local_tensor") for group in optimizer.param_groups for p in group["params"])


def _store() -> Any:
    return dist.distributed_c10d.PrefixStore("torchmedic", dist.distributed_c10d._get_default_store())
