"""A term of the loss compares two things that the trained model has no part in."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import IdleTerm, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom

_LEAST_STEPS = 3


class TermWithoutModel(Rule):
    """A loss function gets no tensor with a gradient, and its result is added to the loss."""

    code = "LOS071"
    name = "term-without-model"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_FLAT)
    tell_apart = "neither side of the comparison has a gradient, in every step looked at"
    needs = (IdleTerm,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        found = list(run.all(IdleTerm))
        for where in dict.fromkeys(seen.where for seen in found):
            same = [seen for seen in found if seen.where == where]
            if len({seen.step for seen in same}) < _LEAST_STEPS:
                continue
            seen = same[0]
            values = [one.value for one in same]
            is_zero = all(abs(value) < 1e-6 for value in values)
            span = "0 in every step" if is_zero else f"{min(values):.3g} to {max(values):.3g}"
            yield self.diagnose(
                headline=f"`{seen.function}` is given nothing that is trained: the term changes no weight",
                confidence="proven",
                step=seen.step,
                where=seen.where,
                mark=seen.expression,
                label="neither side has a gradient",
                also=(Also(location=seen.added, why="it is added to the loss here"),) if seen.added != where else (),
                culprit=Culprit(op=seen.function, phase="forward", tensor=seen.term),
                evidence=(
                    f"in all {len(same)} steps looked at, no argument of `{seen.expression}` had a gradient; its value "
                    f"was {span}",
                ),
                remedies=(Remedy(title=f"give `{seen.function}` the output of the model that is trained"),),
            )
