"""CTC with targets that do not fit into the input."""

from __future__ import annotations

from torchmedic.findings import Remedy
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case
from torchmedic.rules.numerics._reading import at_step, fitted


class CtcWithoutAlignment(NumericsRule):
    """A target longer than the input has no alignment: its loss is infinite."""

    code = "NUM017"
    name = "ctc-without-alignment"
    tell_apart = "the first bad operation is the CTC loss, with finite log-probabilities"
    rank = 30

    def explain(self, case: Case) -> Explanation | None:
        op = case.op
        if op is None or "ctc_loss" not in case.name:
            return None
        frames = case.first.tensor.shape[0] if case.first is not None and case.first.tensor.shape else None
        said = f": {op.bad} of {op.result.numel} samples" if op.bad and op.result is not None else ""
        return Explanation(
            headline=fitted(
                f"the CTC loss is infinite{said} cannot be aligned {at_step(case)}"
                if said
                else f"a CTC target cannot be aligned {at_step(case)}"
            ),
            where=op.where,
            mark=op.expression,
            label="a target needs more frames than the input has",
            tensor=case.first.name if case.first is not None else None,
            notes=(
                (f"the input has {frames} frames; a target needs one per symbol and one more between equal neighbours",)
                if frames
                else ()
            ),
            remedies=(
                Remedy(title="drop samples whose target is longer than `input_lengths`, or lower the downsampling"),
                Remedy(title="`zero_infinity=True` makes the loss finite and leaves those samples out of training"),
            ),
        )
