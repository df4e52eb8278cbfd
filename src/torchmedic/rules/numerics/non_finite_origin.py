"""The first bad operation, where no rule knows more about it."""

from __future__ import annotations

from torchmedic.findings import Remedy
from torchmedic.rules.numerics._base import Explanation, NumericsRule
from torchmedic.rules.numerics._case import Case
from torchmedic.rules.numerics._reading import at_step, became, fitted, short


class NonFiniteOrigin(NumericsRule):
    """Says where it began, and what went in."""

    code = "NUM001"
    name = "non-finite-origin"
    tell_apart = "no other rule explains the operation that made the first non-finite value"
    rank = 99

    def explain(self, case: Case) -> Explanation | None:
        if case.origin is None:
            return self._without_origin(case)
        op = case.origin.op
        what = "NaN" if op.makes_nan else "an infinite value"
        made = f"the derivative of `{short(op.expression)}`" if case.in_backward else f"`{short(op.expression)}`"
        return Explanation(
            headline=fitted(
                f"{made} made the first {what.removeprefix('an ')} {at_step(case)}", f"the first {what} {at_step(case)}"
            ),
            where=op.where or case.sick.backward_at,
            mark=op.expression,
            label=f"{what} from here on",
            confidence="likely",
            notes=(f"the operation is `{op.forward_op or op.op}`",),
            remedies=(Remedy(title="look at the range of its operands before this line"),),
        )

    def _without_origin(self, case: Case) -> Explanation | None:
        """The step could not be run again: only its symptom is known."""
        if case.sick.what == "update" or case.skipped is not None:
            return None
        return Explanation(
            headline=fitted(f"{became(case)} {at_step(case)}, and the step could not be run again"),
            where=case.sick.backward_at,
            label="backward of the sick step",
            confidence="possible",
            notes=((f"why it was not run again: {case.sick.way}",) if case.sick.way else ()),
            remedies=(Remedy(title="fetch the batch outside of the loop's body, so that the body can be run again"),),
        )
