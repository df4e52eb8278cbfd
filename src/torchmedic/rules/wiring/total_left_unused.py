"""The sum of all losses is built, and `backward` starts from one of them."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Location, Run, UnusedTotal
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also, counted, listed, short


class TotalLeftUnused(Rule):
    """A scalar computed from the root of backward and from further terms is never used again."""

    code = "WIR100"
    name = "total-left-unused"
    symptoms = (Symptom.WEIGHTS_STILL, Symptom.SCORE_LOW)
    tell_apart = "the other terms of the loss are computed with their graphs, and no `backward` starts behind them"
    needs = (UnusedTotal,)
    folds = ("TRN",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(UnusedTotal):
            total = f"`{short(_name(seen.total) or seen.expression)}`"
            yield self.diagnose(
                headline=f"`backward` starts from one part of the loss; {total} is built and not used",
                confidence="proven",
                step=seen.step,
                where=seen.backward,
                label="the other terms of the sum do not take part",
                also=also((seen.total, "built here, and left"), where=seen.backward),
                culprit=Culprit(op="backward", parameter=seen.parameters[0], phase="backward"),
                evidence=(
                    f"{total} is computed from the tensor of this `backward` and has a graph of its own",
                    f"{counted(seen.parameter_count, 'parameter')} behind the other terms had no gradient in the "
                    f"first steps: {listed(seen.parameters)}",
                ),
                remedies=(Remedy(title=f"call `backward()` on {total}"),),
            )
            return


def _name(total: Location | None) -> str:
    """The variable on the left of the line that builds the sum."""
    left, assigned, _ = (total.source if total is not None else "").partition("=")
    return left.strip().rstrip("+-*/ ") if assigned else ""
