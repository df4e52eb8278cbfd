"""Noise of a diffusion that is drawn evenly from 0 to 1: blended into the input as Gaussian noise is, and regressed."""

from __future__ import annotations

from typing import Any

import torch

from torchmedic.facts import UniformNoise
from torchmedic.late import late_dataclass
from torchmedic.probes.graph.calls import Call, CallTrace
from torchmedic.record import Recorder

_UNIFORM = frozenset(("rand", "rand_like"))
_PRODUCTS = frozenset(("mul", "rmul"))
_SUMS = frozenset(("add", "radd"))
_DISTANCES = frozenset(("sub", "rsub", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"))
_MOST_WEIGHTS = 1_000_000
_MOST_HELD = 50
_MOST_FACTS = 8
_CLOSE = 1e-3


@late_dataclass(frozen=True)
class _Blend:
    """A draw that was added to data, and the call that did so."""

    drawn: Call
    added: Call
    share: float


class UniformNoises:
    """Follows uniform draws of an examined step into a sum with data, and to the loss."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._products: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        self._blends: list[_Blend] = []
        self._has_drawn = False
        self._facts = 0

    def look(self, trace: CallTrace, call: Call, args: tuple[Any, ...]) -> None:
        self._has_drawn |= call.name in _UNIFORM
        is_blending = self._has_drawn and call.name in _PRODUCTS | _SUMS and call.is_users
        if not is_blending or len(args) < 2 or self._facts >= _MOST_FACTS:
            return
        first, second = args[:2]
        if not isinstance(first, torch.Tensor) or not isinstance(second, torch.Tensor):
            return
        if call.name in _PRODUCTS:
            is_small = first.numel() <= _MOST_WEIGHTS and second.numel() <= _MOST_WEIGHTS
            if not first.requires_grad and not second.requires_grad and is_small and len(self._products) < _MOST_HELD:
                self._products[call.index] = (first, second)
            return
        makers = [trace.real_maker(side)[0] for side in (first, second)]
        for noise, data in (makers, makers[::-1]):
            if noise is not None and data is not None and {noise.index, data.index} <= self._products.keys():
                self._look_at_blend(trace, call, noise, data)

    def _look_at_blend(self, trace: CallTrace, call: Call, noise: Call, data: Call) -> None:
        """The squares of both weights add up to 1, so that noise of variance 1 leaves the variance of the data."""
        for at, side in enumerate(self._products[noise.index]):
            drawn = trace.real_maker(side)[0]
            if drawn is None or drawn.name not in _UNIFORM or tuple(side.shape) != call.shape:
                continue
            weight = self._products[noise.index][1 - at]
            for other in self._products[data.index]:
                if other.shape == weight.shape and bool(((other**2 + weight**2 - 1).abs() < _CLOSE).all()):
                    self._blends.append(_Blend(drawn, call, float(weight.double().mean())))
                    return

    def close(self, trace: CallTrace) -> None:
        for blend in self._blends:
            loss = next(
                (reader for reader in trace.readers(blend.drawn.index) if _regresses(trace, reader, blend)), None
            )
            if loss is not None and blend.drawn.place is not None and self._facts < _MOST_FACTS:
                self._facts += 1
                self._recorder.observe(
                    UniformNoise(
                        step=self._recorder.step,
                        where=blend.drawn.place.location(),
                        expression=blend.drawn.place.expression(),
                        function=blend.drawn.name,
                        blended=blend.added.place.location() if blend.added.place else None,
                        blended_text=blend.added.place.expression() if blend.added.place else "",
                        compared=loss.place.location() if loss.place else None,
                        share=blend.share,
                    )
                )
        self._has_drawn = False
        self._blends.clear()
        self._products.clear()


def _regresses(trace: CallTrace, reader: Call, blend: _Blend) -> bool:
    """A loss between the draw itself and an answer that was computed from the blend."""
    met = [read for read in reader.reads if read.maker != blend.drawn.index]
    if reader.name not in _DISTANCES or len(met) != 1 or not met[0].requires_grad or met[0].maker is None:
        return False
    is_compared = reader.name not in ("sub", "rsub") or trace.is_reduced(reader.index)
    return is_compared and met[0].shape == blend.drawn.shape and blend.added.index in trace.ancestors(met[0].maker)
