"""Values that float16 cannot hold, and by which something is divided: what comes out is 0, and no infinity is left."""

from __future__ import annotations

from typing import Any

import torch

from torchmedic.facts import SwallowedOverflow
from torchmedic.late import late_dataclass
from torchmedic.probes.graph.calls import Call, CallTrace
from torchmedic.record import Recorder

_LARGEST = 65504.0
# An exponential that overflows is right in the limit: 1 / (1 + exp(-x)) is 0. Masks are infinite on purpose.
_GROWING = frozenset(
    (
        "pow",
        "square",
        "mul",
        "multiply",
        "sum",
        "norm",
        "vector_norm",
        "matmul",
        "mm",
        "bmm",
        "einsum",
        "prod",
        "linear",
    )
)
_MULTIPLYING = ("mul", "multiply")
_INVERTING = ("rsqrt", "reciprocal", "pow", "div", "true_divide")
_DIVIDING = frozenset(("div", "true_divide", "divide", *_MULTIPLYING))
_MOST_ELEMENTS = 4_000_000
_MOST_FACTS = 20


@late_dataclass(frozen=True)
class _Birth:
    """A call that was given finite numbers and made infinite ones, the largest number that it was given."""

    call: Call
    largest: float


class SwallowedOverflows:
    """Follows infinities of float16 from the call that made them to the one that divides what they were made of."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._births: dict[int, _Birth] = {}  # by the call whose result comes from it
        self._told = 0

    def look(self, trace: CallTrace, call: Call, args: tuple[Any, ...], result: Any) -> None:
        if not isinstance(result, torch.Tensor) or result.dtype is not torch.float16:
            return
        if self._told >= _MOST_FACTS or not 0 < result.numel() <= _MOST_ELEMENTS:
            return
        carried = next((b for read in call.reads if (b := self._births.get(_key(read.maker))) is not None), None)
        if carried is not None:
            self._births[call.index] = carried
            if call.name in _DIVIDING:
                self._look_at_quotient(trace, call, args, result, carried)
        elif call.name in _GROWING and bool(torch.isinf(result).any()):
            given = [a for a in _flat(args) if isinstance(a, torch.Tensor) and a.is_floating_point() and a.numel()]
            sizes = [float(a.detach().float().abs().max()) for a in given]
            if sizes and max(sizes) <= _LARGEST:
                self._births[call.index] = _Birth(call, max(sizes))

    def close(self) -> None:
        self._births.clear()

    def _look_at_quotient(
        self, trace: CallTrace, call: Call, args: tuple[Any, ...], result: torch.Tensor, birth: _Birth
    ) -> None:
        pair = self._divided_by(trace, call, args, birth)
        if pair is None:
            return
        divided, divisor = (each.detach() for each in pair)
        ended = divisor == 0 if call.name in _MULTIPLYING else torch.isinf(divisor)
        lost = ended & (divided != 0) & torch.isfinite(divided) & (result.detach() == 0)
        share = float(lost.sum()) / max(1, int((divided != 0).sum()))
        self._told += 1
        self._recorder.observe(
            SwallowedOverflow(
                step=self._recorder.step,
                op=birth.call.name,
                expression=birth.call.place.expression() if birth.call.place is not None else "",
                largest=birth.largest,
                share=share,
                samples=len(result) if result.ndim else 1,
                where=birth.call.place.location() if birth.call.place is not None else None,
                divided=call.place.location() if call.place is not None else None,
                quotient=call.place.expression() if call.place is not None else "",
            )
        )

    def _divided_by(
        self, trace: CallTrace, call: Call, args: tuple[Any, ...], birth: _Birth
    ) -> tuple[torch.Tensor, torch.Tensor] | None:
        """What is divided and by what, where the infinity was made of what is divided.

        A norm divides what it is the norm of: the true quotient is no small number.
        """
        if len(args) < 2 or not all(isinstance(arg, torch.Tensor) for arg in args[:2]):
            return None
        behind = trace.ancestors(birth.call.index)
        for one, other in ((args[0], args[1]), (args[1], args[0]))[: 2 if call.name in _MULTIPLYING else 1]:
            made, by = trace.maker_of(one), trace.real_maker(other)[0]
            if made not in behind or by is None or by.index not in self._births:
                continue
            if call.name not in _MULTIPLYING or by.name in _INVERTING:
                return one, other
        return None


def _key(maker: int | None) -> int:
    return -1 if maker is None else maker


def _flat(args: tuple[Any, ...]) -> list[Any]:
    return [each for arg in args for each in (arg if isinstance(arg, (list, tuple)) else (arg,))]
