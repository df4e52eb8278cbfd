"""The exam of a rank: what has to be equal on all ranks, and what must not be, written down in a few steps."""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.modules import module as torch_module
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.parallel import DistributedDataParallel

from torchmedic.facts import FileSaved, Location, RankStep, WrapperSeen
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.ranks.buffers import own_buffers, running_statistics
from torchmedic.probes.ranks.devices import device_of
from torchmedic.probes.ranks.passed_by import PassedWrappers
from torchmedic.probes.source.frames import is_user_file, location_of, outward, shown_path, user_location
from torchmedic.probes.source.sources import inner_module_call
from torchmedic.record import Probe, Recorder, shielded

CLOSE_STEPS = 6
_MOST_PARAMETERS = 32
_MOST_BYTES = 1 << 16
_MOST_FILES = 20


class RankExam(Probe):
    """Looks closely at the first steps, and at the weights ever more rarely: after steps 8, 16, 32 and so on."""

    name = "rank-exam"

    def __init__(self, modules: Modules, wrappers: Callable[[], list[Any]]) -> None:
        self._modules = modules
        self._wrappers = wrappers

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._handles: list[Any] = []
        self._norm_values: dict[str, int] = {}
        self._norm_built: Location | None = None
        self._norm_samples: int | None = None
        self._files = 0
        self._has_seen_wrapper = False
        self._passed = PassedWrappers(_called_from_outside)
        self._clear()
        self._watch_saving()
        self._watch_no_sync()
        self._handles = [torch_module.register_module_forward_pre_hook(shielded(self)(self._before_forward))]

    def remove(self) -> None:
        self._stop_looking()
        self._patches.restore()

    def _clear(self) -> None:
        self._batch, self._wrapped = "", 0
        self._batch_size: int | None = None
        self._called_at: Location | None = None
        self._bypassed: Location | None = None
        self._bypassed_by = ""
        self._backwards = self._exchanges = self._alone = 0
        self._alone_at: Location | None = None
        self._backward_at: Location | None = None

    def _stop_looking(self) -> None:
        while self._handles:
            self._handles.pop().remove()

    def _watch_no_sync(self) -> None:
        original = DistributedDataParallel.no_sync
        note = shielded(self)(self._note_no_sync)

        @functools.wraps(original)
        def no_sync(wrapper: Any) -> Any:
            note()
            with frame_hidden:
                return original(wrapper)

        self._patches.replace(DistributedDataParallel, "no_sync", no_sync)

    def _note_no_sync(self) -> None:
        if self.recorder.step < CLOSE_STEPS:
            self._alone_at = user_location()

    # -- events --------------------------------------------------------------------------------------------------

    def _before_forward(self, module: nn.Module, args: Any) -> None:
        if not torch.is_grad_enabled() or not self.recorder.is_ours:
            return
        if isinstance(module, DistributedDataParallel):
            self._wrapped += 1
            self._called_at = user_location(sys._getframe(1))
            self._fingerprint(args)
        elif module.training and normalises_alone(module):
            self._note_norm(module, args)
        self._passed.note(module, sys._getframe(1), self._wrappers())
        if self._bypassed is None and self._is_bypass(module):
            self._bypassed = _called_from_outside(module, sys._getframe(1))
            self._bypassed_by = type(module).__name__

    def _is_bypass(self, module: nn.Module) -> bool:
        """The inner module of a wrapper, called by somebody else than the wrapper."""
        if not any(module is wrapper.module for wrapper in self._wrappers()):
            return False
        inside = DistributedDataParallel._run_ddp_forward.__code__
        return not any(frame.f_code is inside for frame in outward(sys._getframe(1)))

    def _fingerprint(self, args: Any) -> None:
        first = next((a for a in args if isinstance(a, torch.Tensor) and a.numel()), None)
        if first is not None and not self._batch:
            values = first.detach().reshape(-1)[: _MOST_BYTES // 8].cpu().contiguous()
            self._batch = hashlib.blake2b(values.view(torch.uint8).numpy().tobytes(), digest_size=8).hexdigest()
            self._batch_size = int(first.shape[0]) if first.dim() else 1

    def _note_norm(self, module: nn.Module, args: Any) -> None:
        given = args[0] if args and isinstance(args[0], torch.Tensor) else None
        if given is None or given.dim() < 2:
            return
        for wrapper in self._wrappers():
            path = next((name for name, child in wrapper.module.named_modules() if child is module), None)
            if path is not None:
                self._norm_values[path] = given.numel() // given.shape[1]
                self._norm_samples = min(given.shape[0], self._norm_samples or given.shape[0])
                self._norm_built = self._norm_built or self._modules.born_at(module)

    def on_backward(self, roots: tuple[Any, ...]) -> None:
        self._backwards += 1
        if any(wrapper.require_backward_grad_sync for wrapper in self._wrappers()):
            self._exchanges += 1
            self._alone = 0
        else:
            self._alone += 1
        if self.recorder.step < CLOSE_STEPS:
            self._backward_at = user_location()

    def on_step_done(self, optimizer: Any) -> None:
        step = self.recorder.step
        wrappers = self._wrappers()
        if not wrappers or self.recorder.clock_is_held or not _spans_world(wrappers[0]):
            return
        if not self._has_seen_wrapper:
            self._has_seen_wrapper = True
            self._note_wrapper(wrappers[0])
            if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
                self.recorder.observe(device_of(wrappers[0].module, step))
        if step <= CLOSE_STEPS or step & (step - 1) == 0:
            if step <= CLOSE_STEPS and self._backwards and not self._wrapped and self._bypassed is None:
                self._note_parts_called(wrappers[0])
            self.recorder.observe(self._fact(wrappers[0], optimizer))
        if step <= CLOSE_STEPS:
            self._passed.step(optimizer, wrappers)
        if step == CLOSE_STEPS:
            self._stop_looking()
            for fact in self._passed.facts(filter(_spans_world, wrappers), _norms, step):
                self.recorder.observe(fact)
        self._clear()
        if step >= CLOSE_STEPS:
            self._rest(step)

    def _note_parts_called(self, wrapper: Any) -> None:
        """A loss was made and neither the wrapper nor its module was called: parts of it were, or its `forward` was."""
        self._bypassed = inner_module_call() or self._backward_at
        self._bypassed_by = type(wrapper.module).__name__

    def _rest(self, step: int) -> None:
        """Hear nothing until just before the next step that is compared."""
        until = (1 << step.bit_length()) - 1
        if until > step:
            self.recorder.rest(self, until)

    def on_finish(self) -> None:
        """A rank that never stepped has its wrapper to show all the same."""
        wrappers = self._wrappers()
        if wrappers and not self._has_seen_wrapper:
            self._note_wrapper(wrappers[0])

    def on_crash(self, error: BaseException) -> None:
        wrappers = self._wrappers()
        if wrappers and not self._has_seen_wrapper:
            self._note_wrapper(wrappers[0])
        if "Duplicate GPU" in str(error):
            self.recorder.observe(device_of(wrappers[0].module if wrappers else None, self.recorder.step))

    # -- what is written down ------------------------------------------------------------------------------------

    def _fact(self, wrapper: Any, optimizer: Any) -> RankStep:
        rate = optimizer.param_groups[0].get("lr") if optimizer.param_groups else None
        spreads = wrapper.broadcast_buffers
        return RankStep(
            step=self.recorder.step,
            norms=_norms(wrapper),
            batch=self._batch,
            batch_size=self._batch_size,
            wrapped=self._wrapped,
            called_at=self._called_at,
            bypassed=self._bypassed,
            bypassed_by=self._bypassed_by,
            backwards=self._backwards,
            exchanges=self._exchanges,
            alone=self._alone,
            alone_at=self._alone_at,
            backward_at=self._backward_at,
            seed=torch.initial_seed(),
            stepped_at=user_location(),
            rate=float(rate) if isinstance(rate, (int, float)) else None,
            buffers={} if spreads else own_buffers(wrapper.module),
            statistics={} if spreads else running_statistics(wrapper.module),
        )

    def _note_wrapper(self, wrapper: Any) -> None:
        self.recorder.observe(
            WrapperSeen(
                names=tuple(name for name, p in wrapper.module.named_parameters() if p.requires_grad),
                built=self._modules.born_at(wrapper),
                finds_unused=bool(wrapper.find_unused_parameters),
                norms=dict(self._norm_values),
                norm_built=self._norm_built,
                samples=self._norm_samples,
                broadcasts_buffers=bool(wrapper.broadcast_buffers),
                strangers=self._strangers(wrapper),
                step=self.recorder.step,
            )
        )

    def _strangers(self, wrapper: Any) -> dict[str, Location | None]:
        """Parameters that the model was given after it had been wrapped, with the line that built their layer."""
        known = {id(p) for p in getattr(wrapper, "_module_parameters", ())}
        found = [
            (f"{path}.{name}" if path else name, layer)
            for path, layer in wrapper.module.named_modules()
            for name, p in layer.named_parameters(recurse=False)
            if known and p.requires_grad and id(p) not in known
        ]
        return {name: self._modules.born_at(layer) for name, layer in found[:_MOST_PARAMETERS]}

    def _watch_saving(self) -> None:
        original = torch.save

        @functools.wraps(original)
        def save(obj: Any, f: Any, *args: Any, **kwargs: Any) -> Any:
            if isinstance(f, (str, os.PathLike)) and self._files < _MOST_FILES and self.recorder.is_ours:
                self._files += 1
                place, step = user_location(), self.recorder.step
                self.recorder.observe(FileSaved(path=shown_path(os.path.abspath(f)), where=place, step=step))
            with frame_hidden:
                return original(obj, f, *args, **kwargs)

        self._patches.replace(torch, "save", save)


def normalises_alone(module: nn.Module) -> bool:
    """Whether a layer is a BatchNorm of one rank: synchronised ones have a `forward` of their own."""
    return isinstance(module, _BatchNorm) and type(module).forward is _BatchNorm.forward


def _called_from_outside(module: nn.Module, frame: FrameType) -> Location | None:
    """The user's line that called a module, or the method of it that did: not a line of the model itself."""
    parts = {id(part) for part in module.modules()}
    inside = (f for f in outward(frame) if is_user_file(f.f_code.co_filename))
    outside = next((f for f in inside if id(f.f_locals.get("self")) not in parts), None)
    return location_of(outside) if outside is not None else user_location(frame)


def _spans_world(wrapper: Any) -> bool:
    """Wrappers of some ranks only keep those alike; others may have other weights."""
    return bool(dist.get_world_size(wrapper.process_group) == dist.get_world_size())


def _norms(wrapper: Any) -> dict[str, float]:
    """Norms of some parameters: equal bits on all ranks as long as they are the same model."""
    named = [(n, p.detach()) for n, p in wrapper.module.named_parameters() if p.layout == torch.strided and p.numel()]
    chosen = named[:: max(1, len(named) // _MOST_PARAMETERS)]
    floating = [(name, p) for name, p in chosen if p.is_floating_point()]
    if not floating:
        return {}
    sizes = torch._foreach_norm([p for _, p in floating])
    return {name: float(size) for (name, _), size in zip(floating, sizes, strict=True)}
