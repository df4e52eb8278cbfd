"""The exam of clipping: how much of the gradients is left by it."""

from __future__ import annotations

import functools
import sys
from dataclasses import field
from typing import Any

import torch
from torch.nn.utils import clip_grad as torch_clip

from torchmedic.facts import ClippingSeen, Location
from torchmedic.late import late_dataclass
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.source.frames import user_location
from torchmedic.record import Probe, Recorder, shielded

_LOOKS = frozenset((1, 2, 3, 5, 20, 60, 200, 1_000, 5_000))
# One call before a look the steps are followed too: was there one since the last backward?
_EVES = frozenset(look - 1 for look in _LOOKS if look > 1)
_NAME = "clip_grad_norm_"


@late_dataclass()
class _Line:
    where: Location | None
    limit: float
    norms: list[float] = field(default_factory=list)
    wasted: int = 0


class ClippingExam(Probe):
    """Reads the norm that clipping returns, at a few of its calls."""

    name = "clipping-exam"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._lines: dict[tuple[Location | None, float], _Line] = {}
        self._calls = 0
        self._is_after_step = False
        self._late: _Line | None = None
        self._stepped: Location | None = None
        original = getattr(torch_clip, _NAME)
        note = shielded(self)(self._note)

        @functools.wraps(original)
        def clip(parameters: Any, max_norm: Any, *args: Any, **kwargs: Any) -> Any:
            with frame_hidden:
                norm = original(parameters, max_norm, *args, **kwargs)
            self._calls += 1
            if self._calls in _EVES:
                recorder.wake(self)
            if self._calls in _LOOKS and self.recorder.is_ours and not self.recorder.clock_is_held:
                note(max_norm, norm)
            return norm

        self._patches.replace(torch_clip, _NAME, clip)
        self._patches.replace(torch.nn.utils, _NAME, clip)

    def remove(self) -> None:
        self._patches.restore()

    def _note(self, limit: Any, norm: Any) -> None:
        where, told = user_location(), float(limit)
        line = self._lines.setdefault((where, told), _Line(where, told))
        line.norms.append(float(norm))
        self._late = line if self._is_after_step else None

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._late = None

    def on_step_done(self, optimizer: Any) -> None:
        self._is_after_step = True
        self._stepped = self._stepped or user_location()
        if self._calls not in _EVES and self._late is None:
            self.recorder.rest(self, until=sys.maxsize)

    def on_backward(self, roots: tuple[Any, ...]) -> None:
        """What was clipped after a step and is computed anew before the next one was clipped for nothing."""
        if self._late is not None:
            self._late.wasted += 1
            self._late = None

    def on_backward_done(self, roots: tuple[Any, ...]) -> None:
        self._is_after_step = False

    def on_finish(self) -> None:
        for line in self._lines.values():
            self.recorder.observe(
                ClippingSeen(
                    step=self.recorder.step,
                    function=_NAME,
                    where=line.where,
                    limit=line.limit,
                    norms=tuple(line.norms),
                    calls=self._calls,
                    wasted=line.wasted,
                    stepped=self._stepped,
                )
            )
