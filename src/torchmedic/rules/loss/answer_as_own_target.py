"""The model is asked to give the answer that it gives: its own choice is the target, and the labels are not used."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LossCall, OwnAnswerAsTarget, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom

_LEAST_STEPS = 3


class AnswerAsOwnTarget(Rule):
    """Every loss of the run judges an answer by what was chosen from that same answer."""

    code = "LOS068"
    name = "answer-as-own-target"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_ZERO)
    tell_apart = "the target is chosen (`argmax`, a threshold) from the tensor that the loss is given"
    needs = (OwnAnswerAsTarget, LossCall)
    folds = ("TRN",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        found = list(run.all(OwnAnswerAsTarget))
        lines = {seen.where for seen in found}
        # Beside a loss with labels this is self-training, and meant.
        looks = len({seen.step for seen in found})
        if looks < _LEAST_STEPS or any(call.where not in lines for call in run.all(LossCall)):
            return
        seen = found[0]
        given, target = seen.names
        where = seen.chosen or seen.where
        yield self.diagnose(
            headline=f"the target of `{seen.function}` is chosen from the answer itself: no label is learned from",
            confidence="proven",
            step=seen.step,
            where=seen.where,
            label=f"`{target}` comes from `{given}`",
            also=(Also(location=where, why="the target is chosen here"),)
            if where is not None and where != seen.where
            else (),
            culprit=Culprit(op=seen.function, phase="forward", tensor=target),
            evidence=(
                f"in all {looks} steps looked at, the target was `{seen.chosen_text}`, taken "
                f"from the scores that the loss is given",
                "the model grows sure of whatever it answers, and the loss falls to 0 without any label",
            ),
            remedies=(Remedy(title=f"give `{seen.function}` the labels of the batch"),),
        )
