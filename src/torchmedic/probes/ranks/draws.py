"""Random numbers of a rank in its first steps: drawn from the same state on all ranks, they are the same numbers."""

from __future__ import annotations

import hashlib
import random
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch
from torch import nn

from torchmedic.facts import Location, RandomDraws
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.source.frames import user_frame
from torchmedic.probes.source.random_lines import drawn_before, drawn_in, mentions_dropout, seeded_at
from torchmedic.record import Probe, Recorder

_STEPS = 5
_GENERATORS = ("torch", "numpy", "python")
# From which moment of a step to which, and what the numbers are for.
_WINDOWS = (("data", "fetch", "batch"), ("input", "batch", "forward"), ("model", "forward", "backward"))


class RankDraws(Probe):
    """Notes the generators' states at four moments of a step; only draws by lines of the user's are written down.

    What a library draws, dropout above all, is drawn with equal seeds in most healthy scripts.
    """

    name = "rank-draws"

    def __init__(self, modules: Modules) -> None:
        self._modules = modules

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._moments: dict[str, dict[str, str]] = {}
        self._model: nn.Module | None = None
        self._dataset: object = None
        self._lines: dict[str, Location | None] = {}
        self._frame: FrameType | None = None
        self._modules.listen(self.name)

    def remove(self) -> None:
        self._modules.stop_listening(self.name)
        self._moments.clear()
        self._model = self._dataset = self._frame = None

    def on_fetch(self, iterator: Any) -> None:
        if not self._is_over and "forward" not in self._moments:
            self._moments["fetch"] = _states()
            self._dataset = getattr(iterator, "_dataset", None)

    def on_batch(self, batch: Any, iterator: Any) -> None:
        if not self._is_over and "forward" not in self._moments:
            self._moments["batch"] = _states()

    def on_forward(self, module: nn.Module) -> None:
        if not self._is_over and torch.is_grad_enabled() and "forward" not in self._moments:
            self._moments["forward"] = _states()
            self._model = module
            self._frame = user_frame(sys._getframe(1))
            self._note_lines("input", lambda g: drawn_before(self._frame, g) if self._frame is not None else None)
            self._frame = None

    def on_backward(self, roots: tuple[Any, ...]) -> None:
        if "forward" in self._moments and "backward" not in self._moments:
            self._moments["backward"] = _states()

    def on_step_done(self, optimizer: Any) -> None:
        if self.recorder.clock_is_held:
            return
        self._note_lines("data", lambda g: drawn_in(type(self._dataset).__mro__, g))
        self._note_lines("model", self._drawn_in_model)
        if not self._is_over:
            self._write()
        self._moments = {"batch": _states()}
        if self._is_over:
            self.remove()
            self.recorder.rest(self)

    @property
    def _is_over(self) -> bool:
        return self.recorder.step > _STEPS

    def _drawn_in_model(self, generator: str) -> Location | None:
        modules = list(self._model.modules()) if self._model is not None else []
        kinds = {type(module) for module in modules}
        if any("drop" in name.lower() for module in modules for name in vars(module)) or mentions_dropout(kinds):
            return None
        return None if any("Dropout" in kind.__name__ for kind in kinds) else drawn_in(kinds, generator)

    def _note_lines(self, what: str, find: Callable[[str], Location | None]) -> None:
        """Look for lines once for each thing that was drawn for."""
        began, ended = next((a, b) for name, a, b in _WINDOWS if name == what)
        before, after = self._moments.get(began, {}), self._moments.get(ended, {})
        for generator in _GENERATORS:
            key = f"{what} {generator}"
            if before and after and before[generator] != after[generator] and key not in self._lines:
                self._lines[key] = find(generator)

    def _write(self) -> None:
        states, places = {}, {}
        for what, began, ended in _WINDOWS:
            before, after = self._moments.get(began, {}), self._moments.get(ended, {})
            for generator in _GENERATORS:
                place = self._lines.get(f"{what} {generator}")
                if place is not None and before and after and before[generator] != after[generator]:
                    states[f"{what} {generator}"] = before[generator]
                    places[f"{what} {generator}"] = place
        if states:
            seeded = {g: at for g in {key.split()[1] for key in states} if (at := seeded_at(g)) is not None}
            self.recorder.observe(RandomDraws(step=self.recorder.step, states=states, places=places, seeded=seeded))


def _states() -> dict[str, str]:
    """Fingerprints of the generators that all code of a process shares."""
    parts = [torch.get_rng_state()]
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        parts.append(torch.cuda.get_rng_state())
    numpy = sys.modules.get("numpy")
    legacy = numpy.random.get_state() if numpy is not None else ("", b"", 0)
    return {
        "torch": _digest(b"".join(part.numpy().tobytes() for part in parts)),
        "numpy": _digest(bytes(legacy[1]) + str(legacy[2]).encode()),
        "python": _digest(repr(random.getstate()).encode()),
    }


def _digest(state: bytes) -> str:
    return hashlib.blake2b(state, digest_size=8).hexdigest()
