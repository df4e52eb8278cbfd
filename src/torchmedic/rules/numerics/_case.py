"""A sick step as the rules read it: the guilty operation, its operands, the trials, the birth of bad data."""

from __future__ import annotations

import functools
import math
import re
from dataclasses import dataclass

from torchmedic.facts import (
    Birth,
    ClippingSeen,
    Growth,
    Location,
    Operand,
    OpFact,
    Origin,
    Run,
    SickStep,
    SkippedUpdates,
    Source,
    TensorSummary,
    Trial,
)
from torchmedic.rules.numerics._births import birth_behind

HALF = {"float16": 65504.0, "bfloat16": 3.39e38}
_LARGE = 1e9
_RECURRENT = frozenset(("RNN", "LSTM", "GRU"))
_MANY_CALLS = 8  # in one step: a cell in a loop over time
_GROWN_RECURRENCE = 1.5
_CALM_LOSS = 1e3
_UNCLIPPED = 100.0  # those who clip the norm of gradients leave 0.1 to 10 of it


def base_name(op: str) -> str:
    """`aten.div_.Tensor` is `div`.

    >>> base_name("aten.div_.Tensor"), base_name("aten._softmax.default")
    ('div', '_softmax')
    """
    name = op.split(".")[1] if "." in op else op
    return name.rstrip("_") or name


@dataclass(frozen=True)
class Case:
    """Everything that was seen of the first sick step of a run."""

    run: Run
    sick: SickStep
    origin: Origin | None
    trials: tuple[Trial, ...]
    births: tuple[Birth, ...]

    @classmethod
    def of(cls, run: Run) -> Case | None:
        steps = list(run.all(SickStep))
        if not steps:
            return None
        # A second run may have reproduced what the first could not, or seen the update before it spoil a weight.
        again = [s for s in steps if s.reproduced]
        sick = next((s for s in again if s.what == "update"), (again or steps)[0])
        origin = next((o for o in run.all(Origin) if o.step == sick.step), None)
        trials = tuple(t for t in run.all(Trial) if t.step == sick.step)
        return cls(run=run, sick=sick, origin=origin, trials=trials, births=tuple(run.all(Birth)))

    @property
    def skipped(self) -> SkippedUpdates | None:
        """Where the script left this step and others out by itself."""
        return next((seen for seen in self.run.all(SkippedUpdates) if seen.step == self.sick.step), None)

    @property
    def source(self) -> Source | None:
        return self.origin.source if self.origin is not None else None

    @functools.cached_property
    def birth(self) -> Birth | None:
        """The line of preparation that made the bad values of the source."""
        real = tuple(birth for birth in self.births if birth.holder != "complex")
        return birth_behind(self.source, real) if self.source is not None else None

    @property
    def op(self) -> OpFact | None:
        """The first harmful operation, where nothing bad was handed to the step."""
        return self.origin.op if self.origin is not None and self.origin.source is None else None

    @property
    def name(self) -> str:
        """The guilty operation as the user asked for it: the forward one of a backward one."""
        return base_name(self.op.forward_op or self.op.op) if self.op is not None else ""

    @property
    def in_backward(self) -> bool:
        """Whether a derivative that torch computes is guilty; a `backward` of the user's own is plain arithmetic."""
        return self.op is not None and self.op.phase == "backward" and not self.op.is_own_backward

    @property
    def operands(self) -> tuple[Operand, ...]:
        if self.op is None:
            return ()
        return self.op.forward_operands if self.in_backward else self.op.operands

    @property
    def first(self) -> Operand | None:
        return self.operands[0] if self.operands else None

    @property
    def divisor(self) -> Operand | None:
        """What was divided by."""
        if self.name == "reciprocal" or (self.name == "div" and len(self.operands) == 1):
            return self.first
        return self.operands[1] if self.name == "div" and len(self.operands) > 1 else None

    @property
    def where(self) -> Location | None:
        return self.op.where if self.op is not None else self.sick.backward_at

    @property
    def turn(self) -> OpFact | None:
        return self.origin.turn if self.origin is not None else None

    @property
    def is_half(self) -> bool:
        """Whether the guilty operation worked in half precision."""
        if self.op is None:
            return False
        tensors = [o.tensor for o in (*self.op.operands, *self.operands)] + ([self.op.result] if self.op.result else [])
        return any(t.dtype in HALF for t in tensors)

    def helped(self, *suspects: str) -> bool:
        """Whether a change of one of these made the step finite."""
        return any(t.helps and t.suspect in suspects for t in self.trials)

    def derives_from_infinity(self, *arithmetic: str) -> bool:
        """Whether NaN arises where a derivative, in this arithmetic, reads an infinity that a line has written."""
        op = self.op
        if op is None or not self.in_backward or self.origin is None or self.origin.placed is None:
            return False
        return op.makes_nan and base_name(op.op) in arithmetic and any(o.tensor.inf for o in op.operands)

    # -- growth --------------------------------------------------------------------------------------------------

    @property
    def grown(self) -> Growth | None:
        """The parameter whose norm grew most over the last steps, if by a factor of a hundred or more."""
        growth = self.origin.growth if self.origin is not None else ()
        most = next((g for g in growth if len(g.values) > 1 and g.values[-1] >= max(100 * g.values[0], 10)), None)
        return most or self._grown_recurrence

    @property
    def _grown_recurrence(self) -> Growth | None:
        """A recurrent weight that trained well once and has grown since: over many time steps a little is enough."""
        own = self.recurrence
        was_calm = self.origin is not None and bool(self.origin.losses) and abs(self.origin.losses[0]) < _CALM_LOSS
        return own if own is not None and was_calm and factor(own.values) >= _GROWN_RECURRENCE else None

    @property
    def recurrence(self) -> Growth | None:
        """The weight that the most enlarging layer uses over and over in one step."""
        layer = self.origin.amplifier if self.origin is not None else None
        if self.origin is None or layer is None or not (layer.type in _RECURRENT or layer.calls >= _MANY_CALLS):
            return None
        return next((g for g in self.origin.growth if g.name == layer.weight and len(g.values) > 1), None)

    @property
    def thrown_by(self) -> float | None:
        """The gradient of a recurrent weight that one update has thrown far away, where nothing had clipped it."""
        own, origin = self.recurrence, self.origin
        if own is None or origin is None or origin.optimizer != "SGD" or self.run.first(ClippingSeen) is not None:
            return None
        finite = [value for value in own.values if math.isfinite(value)]
        if len(finite) < 2 or not origin.losses or max(map(abs, origin.losses)) >= _CALM_LOSS:
            return None
        gradient = (finite[-1] - finite[-2]) / (origin.learning_rate or math.inf)
        return gradient if gradient >= _UNCLIPPED else None

    @property
    def loss_grew(self) -> bool:
        """Losses that rose ten-thousandfold over the last steps."""
        losses = [abs(v) for v in self.origin.losses if math.isfinite(v)] if self.origin is not None else []
        return len(losses) > 2 and losses[-1] > 1e4 * (min(losses) + 1e-6) and losses[-1] > 1e4

    @property
    def is_overflow_of_large_values(self) -> bool:
        """Infinity that came from operands which were enormous already."""
        return self.op is not None and any(magnitude(o.tensor) > _LARGE for o in (*self.op.operands, *self.operands))


def factor(values: tuple[float, ...]) -> float:
    """How many times the last value is the first; of values that overflowed, the last that did not.

    >>> round(factor((2.0, 8.0, float("inf"))))
    4
    """
    last = next((value for value in reversed(values) if math.isfinite(value)), 0.0)
    return last / (values[0] + 1e-12)


def magnitude(tensor: TensorSummary) -> float:
    """The largest absolute value, as far as it was looked at."""
    return max(abs(tensor.minimum or 0.0), abs(tensor.maximum or 0.0))


def has_zero(operand: Operand | None) -> bool:
    """Whether an operand was 0 where it mattered, or somewhere."""
    if operand is None:
        return False
    if operand.value is not None:
        return operand.value == 0
    return bool(operand.tensor.zeros) or touches(operand, 0.0)


def touches(operand: Operand, edge: float) -> bool:
    """Whether the range of an operand reaches a value."""
    low, high = operand.tensor.minimum, operand.tensor.maximum
    return low is not None and high is not None and low <= edge <= high


def comes_from(operand: Operand | None, *makers: str) -> bool:
    """Whether an operand was made by one of these operations, or its text says so."""
    if operand is None:
        return False
    return any(m in operand.made_by for m in makers) or any(re.search(rf"\b{m}\s*\(", operand.name) for m in makers)


def text(operand: Operand | None, otherwise: str = "its operand") -> str:
    """An operand as the user wrote it, in backticks."""
    return f"`{operand.name}`" if operand is not None and operand.name else otherwise
