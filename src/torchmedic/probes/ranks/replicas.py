"""A rank that trains without a wrapper: its weights, and whether it exchanges anything that keeps them equal."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import torch

from torchmedic.facts import Location, Replica
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.optimizers import parameters_of
from torchmedic.probes.source.frames import user_location
from torchmedic.record import Probe, Recorder

_CLOSE_STEPS = 6
_MOST_PARAMETERS = 32
# They exchange gradients out of our sight.
_LIBRARIES = ("deepspeed", "horovod", "colossalai", "megatron", "hivemind", "bagua")


class RankReplicas(Probe):
    """Follows the parameters of the optimizer that steps first, where no `DistributedDataParallel` cares for them."""

    name = "rank-replicas"

    def __init__(self, modules: Modules, wrappers: Callable[[], list[Any]]) -> None:
        self._modules = modules
        self._wrappers = wrappers

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._optimizer = 0
        self._named: dict[str, weakref.ref[torch.Tensor]] = {}
        self._shapes: set[tuple[int, ...]] = set()
        self._total = 0
        self._norms: dict[str, float] = {}
        self._built: Location | None = None
        self._exchanged = 0
        self._exchanged_at: Location | None = None
        self._is_blind = False
        self._shared: set[str] = set()
        self._goes_whole = False

    def remove(self) -> None:
        self._named.clear()

    def note(self, tensors: Iterable[Any]) -> None:
        """A collective is about to be called with these: does it carry gradients or parameters?"""
        ours = [t for t in tensors if isinstance(t, torch.Tensor) and self._may_be_ours(t)] if self._named else []
        if ours:
            self._exchanged += 1
            self._note_names(ours)
            self._exchanged_at = self._exchanged_at or user_location()

    def _note_names(self, tensors: list[torch.Tensor]) -> None:
        """Which parameters go from rank to rank: ranks that have parts of one model keep the others to themselves."""
        if self.recorder.step >= _CLOSE_STEPS:
            return
        known = {id(t): name for name, p in self._alive() for t in (p, p.grad) if t is not None}
        names = [known.get(id(t)) for t in tensors]
        self._goes_whole |= None in names
        self._shared.update(name for name in names if name is not None)

    def note_unseen(self) -> None:
        """The ranks speak in a way of which nothing can be said."""
        self._is_blind = True

    def _may_be_ours(self, tensor: torch.Tensor) -> bool:
        if tuple(tensor.shape) in self._shapes and tensor.numel() > 1:
            return True
        if tensor.numel() > 1 and 4 * tensor.numel() >= self._total:
            return True
        return any(tensor is p or tensor is p.grad for _, p in self._alive())

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if not self._optimizer and not self.recorder.clock_is_held:
            self._optimizer = id(optimizer)
            if self._may_compare(optimizer):
                self._begin(optimizer)
                self._write(0)
            else:
                self.recorder.rest(self)

    def _may_compare(self, optimizer: Any) -> bool:
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        sharded = any(hasattr(p, "_local_tensor") for p in parameters)
        kinds = {base.__name__ for module in self._modules.alive() for base in type(module).__mro__}
        hidden = any(name in sys.modules for name in _LIBRARIES) or "FullyShardedDataParallel" in kinds
        return not (self._wrappers() or sharded or hidden)

    def _begin(self, optimizer: Any) -> None:
        own = {id(p) for p in parameters_of(optimizer)}
        for root in self._modules.roots():
            for name, p in root.named_parameters():
                if id(p) in own and p.is_floating_point() and p.layout == torch.strided and p.numel():
                    own_name = f"{type(root).__name__}.{name}" if name in self._named else name
                    self._named[own_name] = weakref.ref(p)
                    self._built = self._built or self._modules.born_at(root)
        self._shapes = {tuple(p.shape) for _, p in self._alive()}
        self._total = sum(p.numel() for _, p in self._alive())

    def _alive(self) -> list[tuple[str, torch.Tensor]]:
        return [(name, p) for name, reference in self._named.items() if (p := reference()) is not None]

    def on_step_done(self, optimizer: Any) -> None:
        step = self.recorder.step
        if id(optimizer) != self._optimizer or not self._named or self.recorder.clock_is_held:
            return
        if step <= _CLOSE_STEPS or step & (step - 1) == 0:
            self._write(step)

    def on_finish(self) -> None:
        if self._named and self.recorder.step > _CLOSE_STEPS:
            self._write(self.recorder.step)

    def _write(self, step: int) -> None:
        if self._is_blind:
            return
        named = self._alive()
        if named:  # at the end of a rank the model may be gone: then its last norms stand
            chosen = named[:: max(1, len(named) // _MOST_PARAMETERS)]
            sizes = torch._foreach_norm([p.detach() for _, p in chosen])
            self._norms = {name: float(size) for (name, _), size in zip(chosen, sizes, strict=True)}
        self.recorder.observe(
            Replica(
                step=step,
                norms=self._norms,
                exchanged=self._exchanged,
                exchanged_at=self._exchanged_at,
                shared=() if self._goes_whole else tuple(sorted(self._shared)),
                built=self._built,
                stepped_at=user_location(),
                seed=torch.initial_seed(),
            )
        )
