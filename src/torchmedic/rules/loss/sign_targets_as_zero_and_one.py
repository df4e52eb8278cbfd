"""Losses that want the signs 1 and -1, given 1 and 0."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LossCall, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.loss._calls import always, seen

_FUNCTIONS = ("cosine_embedding_loss", "margin_ranking_loss", "soft_margin_loss", "hinge_embedding_loss")


class SignTargetsAsZeroAndOne(Rule):
    """The target holds 0 where the loss knows 1 and -1 only."""

    code = "LOS016"
    name = "sign-targets-as-zero-and-one"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_FLAT)
    tell_apart = "the target of a loss of pairs or signs has values 0 and 1 instead of -1 and 1"
    needs = (LossCall,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for call, times in always(run, _FUNCTIONS, lambda c: c.target.minimum == 0 and c.target.maximum in (0, 1)):
            name = call.names[1]
            yield self.diagnose(
                headline=f"`{call.function}` is given 0 and 1 in `{name}`; it knows 1 and -1 only",
                confidence="proven",
                step=call.step,
                where=call.where,
                label=f"0 in `{name}` counts for nothing",
                culprit=Culprit(op=call.function, phase="forward", tensor=name),
                evidence=(f"`{name}` is {call.target} with values 0 and 1 in {seen(times)}",),
                remedies=(Remedy(title=f"map 0/1 to -1/1: `2 * {name} - 1`"),),
            )
