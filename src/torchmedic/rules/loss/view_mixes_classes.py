"""`(B, C, L).view(-1, C)`: rows of scores that belong to several positions."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LossCall, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.loss._calls import CLASS_LOSSES, always, loss_line, seen, shown


class ViewMixesClasses(Rule):
    """Scores with their classes in dimension 1 were cut into rows without moving that dimension last."""

    code = "LOS013"
    name = "view-mixes-classes"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "a view made the class dimension last without a permute"
    needs = (LossCall,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for call, times in always(run, CLASS_LOSSES, lambda c: c.scrambled is not None):
            cut, before = call.scrambled, call.scrambled_from
            assert cut is not None
            classes = call.given.shape[1]
            moved = ", ".join(map(str, (0, *range(2, len(before)), 1)))
            yield self.diagnose(
                headline=f"`{cut.op}` of {shown(before)} to {shown(call.given.shape)} mixes classes and positions",
                confidence="proven",
                step=call.step,
                where=cut.where,
                mark=cut.expression,
                label=f"dimension 1 holds the {classes} classes, and is not the last",
                also=loss_line(call, "the rows meet the labels here") if cut.where != call.where else (),
                culprit=Culprit(op=cut.op, phase="forward", tensor=call.names[0]),
                evidence=(
                    f"a view cuts along memory: a row of {classes} numbers holds {classes} neighbouring positions of "
                    f"one class, not {classes} classes of one position; so it was in {seen(times)}",
                ),
                remedies=(
                    Remedy(title=f"move the classes last first: `.permute({moved}).reshape(-1, {classes})`"),
                    Remedy(
                        title=f"or give the loss {shown(before)} as it is", detail="it takes classes in dimension 1"
                    ),
                ),
            )
