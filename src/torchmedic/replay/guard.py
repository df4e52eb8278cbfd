"""Notices, before the update, that a step is sick; remembers what is needed to run it again."""

from __future__ import annotations

import collections
import math
import sys
import weakref
from dataclasses import field
from types import FrameType
from typing import Any, NamedTuple

import torch

from torchmedic.facts import Location
from torchmedic.late import late_dataclass
from torchmedic.probes.events.autograd import scalar
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.events.optimizers import Optimizers, parameters_of
from torchmedic.probes.objects.letters import read_now
from torchmedic.probes.source.frames import user_location
from torchmedic.probes.source.loops import Loop
from torchmedic.record import Probe, Recorder
from torchmedic.replay.beginnings import Beginning, BufferCopies, BufferSlot, Handed, carried_values
from torchmedic.replay.device_guard import DeviceGuard
from torchmedic.replay.finite import bad_tensors, gradients_of, size_of
from torchmedic.replay.generators import StepStates
from torchmedic.replay.loops import find_loop, read_names, targets_from_batch

HISTORY = 60
BATCHES_KEPT = 3
_EVERY_NORM_UNTIL = 20
_NORM_INTERVAL = 16
_NORM_INTERVAL_ON_CARD = 256  # there the training has to wait for every look
_GROWING = 3.0  # times the usual size of the gradient: from there on every step is worth a look


@late_dataclass()
class Suspicion:
    """A backward pass that left non-finite numbers, with the way back to the top of its loop."""

    what: str
    loss: float | None
    backward_at: Location | None
    frame: FrameType | None
    loop: Loop | None
    names: dict[str, Any]
    beginning: Beginning
    roots: tuple[Any, ...]
    stack: dict[int, int]
    buffers: BufferCopies
    step: int
    drawn: dict[str, Any] = field(default_factory=dict)
    lost: tuple[str, ...] = ()


class _Moment(NamedTuple):
    """What a suspicion of a step needs that is gone in the next one; without its frame, which would not end with it."""

    names: dict[str, Any]
    beginning: Beginning
    stack: dict[int, int]
    buffers: BufferCopies
    step: int


def _drawn_again(loop: Loop, beginning: Beginning) -> dict[str, Any]:
    """What the `for` bound, where its body may have bound it anew since."""
    is_changed = bool(loop.carried & loop.targets) and bool(beginning.handed)
    return targets_from_batch(loop, beginning.handed[-1].batch) if is_changed else {}


def _lost_names(loop: Loop, moment: _Moment) -> tuple[str, ...]:
    """Names that the `for` bound, that the body has bound anew, and that hold bad numbers by now.

    A body that ran again would begin with these, and blame the first line that reads them.
    """
    names = (loop.carried & loop.targets) - _drawn_again(loop, moment.beginning).keys()
    return tuple(sorted(name for name in names if _is_bad(moment.names.get(name))))


def _is_bad(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return bool(bad_tensors([value.detach()])) if value.is_floating_point() else False
    return isinstance(value, float) and not math.isfinite(value)


class Guard(Probe):
    """Looks at the loss and at all gradients of a step, once, before the update is applied."""

    name = "guard"

    def __init__(self, modules: Modules, optimizers: Optimizers) -> None:
        self._modules = modules
        self._optimizers = optimizers

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._random = StepStates()
        self.beginning = Beginning(random=self._random.now())
        self._buffers = BufferCopies()
        self._buffers_before = BufferCopies()
        self._device_guards: dict[int, tuple[weakref.ref[Any], DeviceGuard | None]] = {}
        self._device_loss: torch.Tensor | None = None
        self._late: _Moment | None = None
        self.suspicion: Suspicion | None = None
        self.losses: collections.deque[float] = collections.deque(maxlen=HISTORY)
        self.norms: collections.deque[list[float]] = collections.deque(maxlen=HISTORY)
        self.has_new_norms = False
        self.gradient_size = 0.0
        self._usual_size = 0.0
        self._slots: list[BufferSlot] = []
        self._checked: list[BufferSlot] = []
        self._known_spoiled: set[tuple[int, str]] | None = None  # of the first step nothing is known before
        self._spoiled: set[tuple[int, str]] = set()
        self._module_count = -1
        self._backwards = 0
        self._accumulates = False

    # -- what is kept for the way back ---------------------------------------------------------------------------

    def on_batch_of(self, handed: Handed) -> None:
        if torch.is_grad_enabled():
            self.beginning.random = self._random.now()
            self.beginning.fetched.append(handed)
            self.beginning.handed = (*self.beginning.handed, handed)[-BATCHES_KEPT:]

    def on_optimizer(self, optimizer: Any) -> None:
        """The last that is heard of a script before its first step: weights are drawn, and mostly a loop begins."""
        if not self.recorder.step and not self.beginning.handed:
            self.beginning.random = self._random.now()

    def on_zero_grad(self, optimizer: Any) -> None:
        if self._random.is_time_at_zero_grad():
            self.beginning.at_zero_grad = self._random.at_zero_grad(self.beginning.random)
        if self.suspicion is not None and not self._still_sick(optimizer):
            self.suspicion = None

    def before_first_update(self) -> None:
        """The size of the weights as they were given: without it a first update that blows them up goes unseen."""
        self.norms.append(self._parameter_norms())

    def on_step_done(self, optimizer: Any) -> None:
        place = find_loop(sys._getframe(1), self.recorder.stack)
        self.beginning = Beginning(random=self._random.at_step_end(), handed=self.beginning.handed)
        if place is not None:
            self.beginning.names = carried_values(*place)
        self._buffers, self._buffers_before = self._buffers_before, self._buffers
        self._buffers.refresh(self._buffers_now())
        on_device = self._device_guard_of(optimizer)
        self.has_new_norms = self._wants_norms(on_card=on_device is not None)
        if self.has_new_norms:
            self.norms.append(self._parameter_norms())
        self.suspicion = None
        self._backwards = 0
        if on_device is not None:
            on_device.done(optimizer)

    def _wants_norms(self, on_card: bool) -> bool:
        """Often at the start and while gradients grow: that is when the history of the weights will be asked for."""
        is_growing = self.gradient_size > _GROWING * self._usual_size
        self._usual_size += 0.1 * (self.gradient_size - self._usual_size)
        return is_growing or _is_due(self.recorder.step, on_card)

    def _buffers_now(self) -> list[BufferSlot]:
        if self._modules.count() != self._module_count or (self._slots and any(s.is_rebound for s in self._slots)):
            self._module_count = self._modules.count()
            found = {
                id(b): BufferSlot(m._buffers, name, b)
                for m in self._modules.alive()
                for name, b in m._buffers.items()
                if b is not None and b.layout == torch.strided
            }
            self._slots = list(found.values())
            self._checked = [s for s in self._slots if _is_plain(s.tensor)]
        return self._slots

    def _newly_spoiled(self) -> bool:
        """Whether the step has written NaN into a buffer; infinity is often there on purpose, as in running minima."""
        self._buffers_now()
        if not self._checked:
            return False
        if not math.isnan(size_of([slot.tensor for slot in self._checked])):
            self._known_spoiled = set()
            return False
        before = self._known_spoiled
        now = {(id(slot.owner), slot.name) for slot in self._checked if bool(slot.tensor.isnan().any())}
        self._spoiled = now - (now if before is None else before)
        self._known_spoiled = now
        return bool(self._spoiled)

    def spoiled_buffers(self) -> list[torch.Tensor]:
        """The buffers that the sick step spoils, as they are now."""
        slots = [slot for slot in self._buffers_now() if (id(slot.owner), slot.name) in self._spoiled]
        return [slot.tensor for slot in slots if bool(slot.tensor.isnan().any())]

    def buffer_names(self, buffers: list[torch.Tensor]) -> list[str]:
        """Their names in the script's modules."""
        wanted = {id(b) for b in buffers}
        return [name for root in self._modules.roots() for name, b in root.named_buffers() if id(b) in wanted]

    # -- is this step sick? --------------------------------------------------------------------------------------

    def on_backward_done(self, roots: tuple[Any, ...]) -> None:
        loss = self.recorder.loss
        if loss is None and not self._optimizers.are_any():
            # Of weights that are updated by hand no step will be asked about.
            loss = scalar(self.recorder.loss_on_card, wait=True)
        if loss is not None and math.isfinite(loss):
            self.losses.append(loss)
        bad_loss = loss is not None and not math.isfinite(loss)
        if loss is None:
            self._device_loss = self.recorder.loss_on_card
        self._backwards += 1
        # One backward per update is looked at once, before the update; several are told apart one by one.
        self._accumulates = self._accumulates or self._backwards > 1
        if self.suspicion is not None:
            return  # gradients stay bad until they are cleared: the first backward that spoiled them is the one
        if bad_loss or (self._accumulates and self._bad_host_gradients()):
            self.suspicion = self._suspect("loss" if bad_loss else "gradient", loss, roots)

    def is_sick(self, optimizer: Any) -> bool:
        """Asked when the update is about to be applied."""
        if self.suspicion is not None:
            return True
        if getattr(optimizer, "found_inf", None) is not None:
            return False  # a scaler is in charge: the optimizer skips what overflows, and says so to it
        on_device = self._device_guard_of(optimizer)
        if on_device is not None:
            if self._is_sick_on_device(on_device, optimizer):
                return True
            looks_closer = _is_due(self.recorder.step, on_card=True)
        else:
            gradients = gradients_of(optimizer)
            self.gradient_size = size_of(gradients)
            if not math.isfinite(self.gradient_size) and bad_tensors(gradients):
                self.suspicion = self._suspect("gradient", self.losses[-1] if self.losses else None, ())
            looks_closer = self.suspicion is None
        if looks_closer and self._newly_spoiled():
            self.suspicion = self._suspect("buffer", self.losses[-1] if self.losses else None, ())
        return self.suspicion is not None

    def _device_guard_of(self, optimizer: Any) -> DeviceGuard | None:
        """The guard of an optimizer on a device; None for one on the host."""
        key = id(optimizer)
        known = self._device_guards.get(key)
        if known is None:
            made = DeviceGuard(optimizer) if DeviceGuard.handles(optimizer) else None
            gone = weakref.ref(optimizer, lambda _: self._device_guards.pop(key, None))
            known = self._device_guards[key] = gone, made
        return known[1]

    def _is_sick_on_device(self, guard: DeviceGuard, optimizer: Any) -> bool:
        """Ask without waiting: the answer may be about the step before this one, whose way back is still known."""
        # Gradients have been exchanged, so that all ranks see the same; a loss is one rank's own.
        answer = guard.ask(optimizer, None if guard.in_company else self._device_loss)
        self._device_loss = None
        before, self._late = self._late, self._moment() if guard.answers_late else None
        if answer == "healthy" or (answer == "sick before" and before is None):
            return False
        self.suspicion = self._suspect("gradient", None, (), before if answer == "sick before" else None)
        return True

    def _bad_host_gradients(self) -> bool:
        """Only what can be read without waiting for a device."""
        gradients = [g for o in self._optimizers.alive() for g in gradients_of(o) if g.device.type == "cpu"]
        return bool(bad_tensors(gradients))

    @property
    def knows_of_earlier_step(self) -> bool:
        """Whether the suspicion is of the step before, told late by its gradients: those of this one may be well."""
        return self.suspicion is not None and self.suspicion.step <= self.recorder.step

    def nobody_will_ask(self) -> bool:
        """A loop that updates weights by hand has no optimizer whose step could be waited for."""
        return not self._optimizers.are_any()

    def _still_sick(self, optimizer: Any) -> bool:
        """Clearing gradients of one optimizer while another's are still bad, or before the bad ones were made."""
        return any(bad_tensors(gradients_of(other)) for other in self._optimizers.alive() if other is not optimizer)

    def _moment(self) -> _Moment:
        place = find_loop(sys._getframe(1), self.recorder.stack)
        names: dict[str, Any] = {}
        if place is not None:
            frame, loop = place
            names = read_names(frame, loop.targets) | self.beginning.names
            names |= _drawn_again(loop, self.beginning)
        # A loop that updates weights by hand has no other clock than its backward passes.
        step = self.recorder.step + 1 if self._optimizers.are_any() else max(self.recorder.backwards, 1)
        return _Moment(names, self.beginning, self.recorder.stack, self._buffers, step)

    def _suspect(
        self, what: str, loss: float | None, roots: tuple[Any, ...], moment: _Moment | None = None
    ) -> Suspicion:
        """A suspicion of the present moment, or of one that is told."""
        moment = moment or self._moment()
        place = find_loop(sys._getframe(1), moment.stack)
        return Suspicion(
            what=what,
            loss=loss,
            backward_at=user_location(),
            frame=place[0] if place else None,
            loop=place[1] if place else None,
            roots=roots,
            lost=_lost_names(place[1], moment) if place else (),
            **moment._asdict(),
        )

    def suspect_now(self, what: str) -> Suspicion:
        """A suspicion of the present moment, for a step that is seen in a second run."""
        return self._suspect(what, None, ())

    def suspect_under_scaler(self, roots: tuple[Any, ...], unscaled: float | None) -> None:
        self.suspicion = self._suspect("scaler", unscaled, roots)

    def looks_bad(self, roots: tuple[Any, ...]) -> bool:
        """Whether a finished backward left a bad loss or bad gradients."""
        loss = scalar(roots[0], wait=True) if len(roots) == 1 else None
        return (loss is not None and not math.isfinite(loss)) or self.bad_gradients()

    def bad_parameter_names(self, of_weights: bool = False) -> list[str]:
        """Parameters whose gradient (or value) is not finite."""
        pairs = ((name, p.detach() if of_weights else p.grad) for name, p in self.parameters().items())
        return [name for name, tensor in pairs if tensor is not None and bad_tensors([tensor])]

    def weights_went_bad(self) -> bool:
        """After an update: whether a parameter's norm is not finite any more."""
        if not self.has_new_norms or math.isfinite(sum(self.norms[-1])):
            return False
        return bool(bad_tensors([p.detach() for p in self.parameters().values()]))

    def parameter_names(self) -> list[str]:
        """Names in the order of the rows of `norms`."""
        return list(self.parameters())

    def bad_gradients(self, optimizer: Any = None) -> bool:
        chosen = [optimizer] if optimizer is not None else self._optimizers.alive()
        return any(bad_tensors(gradients_of(each)) for each in chosen)

    def parameters(self) -> dict[str, torch.nn.Parameter]:
        """Parameters of all optimizers by their name in the script's modules."""
        names = {id(p): n for root in self._modules.roots() for n, p in root.named_parameters()}
        found: dict[str, torch.nn.Parameter] = {}
        for optimizer in self._optimizers.alive():
            for i, p in enumerate(parameters_of(optimizer)):
                found[names.get(id(p), f"parameter {i}")] = p
        return found

    def _parameter_norms(self) -> list[float]:
        values = [p.detach() for o in self._optimizers.alive() for p in parameters_of(o)]
        plain = [v for v in values if not v.is_meta and v.layout == torch.strided and v.is_floating_point()]
        return read_now(list(torch._foreach_norm(plain))) if plain else []


def _is_due(step: int, on_card: bool) -> bool:
    return step <= _EVERY_NORM_UNTIL or step % (_NORM_INTERVAL_ON_CARD if on_card else _NORM_INTERVAL) == 0


def _is_plain(tensor: torch.Tensor) -> bool:
    is_plain = type(tensor) is torch.Tensor and tensor.is_floating_point() and not tensor.requires_grad
    return is_plain and not tensor.is_meta and tensor.numel() > 0
