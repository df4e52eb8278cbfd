"""The exam of samples: `sample()` of a distribution that should have been `rsample()`."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch import distributions

from torchmedic.facts import Location, SampledWithoutGradient
from torchmedic.late import late_dataclass
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.source.frames import user_frame, user_location
from torchmedic.record import Probe, Recorder, shielded

_STEPS_LOOKED_AT = 20


@late_dataclass()
class _Seen:
    kind: str
    times: int
    parameters: tuple[str, ...]


class SampleExam(Probe):
    """Watches distributions with a differentiable sampler, and whether anything ever asks for `log_prob`."""

    name = "sample-exam"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._samples: dict[Location, _Seen] = {}
        self._scored: set[str] = set()
        self._depth = 0
        for kind in vars(distributions).values():
            if isinstance(kind, type) and issubclass(kind, distributions.Distribution):
                self._watch(kind)

    def remove(self) -> None:
        self._patches.restore()

    def _watch(self, kind: type) -> None:
        if "sample" in vars(kind) and getattr(kind, "has_rsample", False) is not False:
            self._wrap(kind, "sample", self._sampled)
        if "log_prob" in vars(kind):
            self._wrap(kind, "log_prob", self._scored_by)

    def _wrap(self, kind: type, name: str, note: Any) -> None:
        original = vars(kind)[name]
        note = shielded(self)(note)

        @functools.wraps(original)
        def watched(distribution: Any, *args: Any, **kwargs: Any) -> Any:
            if self._depth == 0 and self.recorder.is_ours and self.recorder.step < _STEPS_LOOKED_AT:
                note(distribution)
            self._depth += 1
            try:
                with frame_hidden:
                    return original(distribution, *args, **kwargs)
            finally:
                self._depth -= 1

        self._patches.replace(kind, name, watched)

    def _scored_by(self, distribution: Any) -> None:
        self._scored.add(type(distribution).__name__)

    def _sampled(self, distribution: Any) -> None:
        if not torch.is_grad_enabled() or not getattr(distribution, "has_rsample", False):
            return
        needing = tuple(n for n, v in vars(distribution).items() if isinstance(v, torch.Tensor) and v.requires_grad)
        where = user_location() if needing and user_frame() is not None else None
        if where is not None:
            seen = self._samples.setdefault(where, _Seen(type(distribution).__name__, 0, needing))
            seen.times += 1

    def on_finish(self) -> None:
        for where, seen in self._samples.items():
            if seen.kind not in self._scored and seen.times >= 3 and self.recorder.step >= 3:
                self.recorder.observe(
                    SampledWithoutGradient(
                        distribution=seen.kind, where=where, times=seen.times, parameters=seen.parameters
                    )
                )
