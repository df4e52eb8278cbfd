"""Random numbers of the examined steps: a seed that is set anew in every step makes every step draw the same ones."""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from dataclasses import field
from typing import Any

import torch

from torchmedic.facts import RepeatedDraw
from torchmedic.late import late_dataclass
from torchmedic.probes.graph.calls import Call, CallTrace
from torchmedic.probes.graph.trace import Place
from torchmedic.probes.source.random_lines import reseeded_at
from torchmedic.record import Recorder

# fmt: off
_DRAWING = frozenset((
    "randn", "rand", "randint", "bernoulli", "normal", "randn_like", "rand_like", "randint_like", "uniform",
    "exponential", "multinomial", "poisson", "log_normal", "geometric", "cauchy", "random",
))
# Made of nothing that was loaded: neither random numbers nor data.
_PLAIN = frozenset((
    "zeros", "ones", "full", "arange", "empty", "linspace", "eye", "zeros_like", "ones_like", "full_like", "empty_like",
))
# fmt: on
_DROPPING = frozenset(("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"))
_LEAST_STEPS = 3
_MOST_LINES = 40
_MOST_LOOKED_AT = 4096
_LEAST_CHANCE = -20.0  # the logarithm of the chance that two draws are the same by accident
_DATA = 1


@late_dataclass()
class _Line:
    """What one line drew: the digests of each step, by the shape drawn."""

    place: Place
    op: str
    bit: int
    has_generator: bool
    by_shape: dict[tuple[int, ...], dict[int, str]] = field(default_factory=lambda: defaultdict(dict))


class RepeatedDraws:
    """Follows random numbers through a step, by one bit for each line that draws, up to the loss."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._lines: dict[tuple[str, int, int], _Line] = {}
        self._now: dict[int, list[tuple[tuple[int, ...], str]]] = {}
        self._taints: list[int] = []
        self._sizes: set[int] = set()
        self._reached = 0

    def look(self, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        if call.index >= len(self._taints):
            self._taints += [0] * (call.index + 1 - len(self._taints))
        taint = 0
        for i, read in enumerate(call.reads):
            if read.maker is not None:
                taint |= self._taints[read.maker]
            elif not read.requires_grad and read.shape and (call.layer is None or i == 0):
                taint |= _DATA  # what a layer reads besides its input are statistics of its own
        if not isinstance(result, torch.Tensor) or call.place is None:
            self._taints[call.index] = taint
            return
        if _draws(call, args, kwargs):
            taint = (taint if call.name in _DROPPING else 0) | self._note(call, call.place, kwargs, result)
        elif not call.reads and call.name not in _PLAIN:
            taint |= _DATA
        self._taints[call.index] = taint
        if result.ndim == 0 and result.requires_grad:
            self._sizes |= {read.shape[0] for read in call.reads if read.shape and read.requires_grad}

    def _note(self, call: Call, place: Place, kwargs: dict[str, Any], result: torch.Tensor) -> int:
        key = (place.code.co_filename, place.line, place.lasti)
        line = self._lines.get(key)
        if line is None:
            if len(self._lines) >= _MOST_LINES:
                return 0
            line = _Line(place, call.name, 2 << len(self._lines), kwargs.get("generator") is not None)
            self._lines[key] = line
        if result.ndim:
            digest = _state(result) if call.name in _DROPPING else _digest(result)
            self._now.setdefault(line.bit, []).append((tuple(result.shape), digest))
        return line.bit

    def reach(self, trace: CallTrace, roots: tuple[Any, ...]) -> None:
        """`backward` starts here: only what the loss is made of is trained with."""
        for root in roots:
            index = trace.maker_of(root) if isinstance(root, torch.Tensor) else None
            taint = self._taints[index] if index is not None and index < len(self._taints) else 0
            if taint & _DATA:
                self._reached |= taint

    def close(self) -> None:
        for line in self._lines.values():
            drawn = self._now.get(line.bit, [])
            if drawn and line.bit & self._reached and self._is_of_batch(drawn[0][0]):
                line.by_shape[drawn[0][0]][self._recorder.step] = "".join(digest for _, digest in drawn)
        self._now.clear()
        self._taints.clear()
        self._sizes.clear()
        self._reached = 0

    def _is_of_batch(self, shape: tuple[int, ...]) -> bool:
        """Whether there is a number for each sample, or each token of each, that the loss is taken over."""
        return any(math.prod(shape[:n]) in self._sizes for n in (1, 2, 3))

    def write(self) -> None:
        for line in self._lines.values():
            for shape, digests in line.by_shape.items():
                if len(digests) >= _LEAST_STEPS and len(set(digests.values())) == 1 and all(digests.values()):
                    self._tell(line, shape, tuple(digests))

    def _tell(self, line: _Line, shape: tuple[int, ...], steps: tuple[int, ...]) -> None:
        where = line.place.location()
        seeded = reseeded_at(line.place.code.co_filename, line.place.line, line.has_generator)
        self._recorder.observe(
            RepeatedDraw(
                step=steps[-1],
                where=where,
                expression=line.place.expression() or where.source.strip(),
                op=line.op,
                shape=shape,
                steps=steps,
                seeded=seeded[0] if seeded else None,
                seeded_text=seeded[1] if seeded else "",
            )
        )


def _draws(call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    if call.name in _DROPPING:
        return _drops(args, kwargs)
    is_and = call.name == "rand" and bool(call.reads)  # `1 & mask` is `mask.__rand__(1)`
    return call.name in _DRAWING and not is_and


def _drops(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    p = args[1] if len(args) > 1 else kwargs.get("p", 0.5)
    return bool(p) and bool(args[2] if len(args) > 2 else kwargs.get("training", True))


def _state(result: torch.Tensor) -> str:
    """After a mask was drawn, the generator says which one it was: masks cannot be read off what they were laid on."""
    on_card = result.device.type == "cuda"
    state = torch.cuda.get_rng_state(result.device) if on_card else torch.get_rng_state()
    return hashlib.md5(state.numpy().tobytes(), usedforsecurity=False).hexdigest()


def _digest(result: torch.Tensor) -> str:
    """The numbers themselves; nothing where they are too few or too alike to be told from other draws."""
    if result.device.type == "meta":
        return ""
    values = result.detach().flatten()[:_MOST_LOOKED_AT].cpu().double()
    counts = torch.unique(values, return_counts=True)[1].double() / max(len(values), 1)
    if not len(values) or len(values) * math.log(float((counts**2).sum())) > _LEAST_CHANCE:
        return ""
    return hashlib.md5(values.numpy().tobytes(), usedforsecurity=False).hexdigest()
