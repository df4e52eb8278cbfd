"""The targets are given to a loss as the answers, and the answers as the targets."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LossCall, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.loss._calls import always, seen

# The others are the same both ways round, refuse it, or (`kl_div`) are used both ways on purpose.
_ONE_WAY = ("binary_cross_entropy", "binary_cross_entropy_with_logits")


class LossArgumentsSwapped(Rule):
    """The first argument has no gradient, and the second has."""

    code = "LOS067"
    name = "loss-arguments-swapped"
    symptoms = (Symptom.LOSS_NEGATIVE, Symptom.LOSS_FLAT, Symptom.LOSS_NOISY, Symptom.SCORE_LOW)
    tell_apart = "what the model computed stands in the place of the target"
    needs = (LossCall,)
    folds = ("bce-targets-outside-range", "loss-term-without-floor")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for call, times in always(run, _ONE_WAY, _is_swapped):
            first, second = call.names
            yield self.diagnose(
                headline=f"`{call.function}` is given the targets first and the answers second",
                confidence="proven",
                step=call.step,
                where=call.where,
                mark=call.expression,
                label=f"`{second}` comes from the model, `{first}` does not",
                culprit=Culprit(op=call.function, phase="forward", tensor=first),
                evidence=(
                    f"in {seen(times)}, the first argument has no gradient and the second has one",
                    "the loss is then a straight line in the answers, and falls by making them larger or smaller "
                    "without end",
                ),
                remedies=(Remedy(title=f"swap them: the answers first, `({second}, {first})`"),),
            )


def _is_swapped(call: LossCall) -> bool:
    return call.target.requires_grad and not call.given.requires_grad
