"""A target that the model estimates itself keeps its gradient: the loss falls by moving the target."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import EstimateAsTarget, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules._code import receiver

_LEAST_STEPS = 3


class EstimateWithGradient(Rule):
    """`reward + discount * value(next)` is the target, and `value` is trained through both sides."""

    code = "LOS069"
    name = "estimate-with-gradient"
    severity = "warning"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_NOISY)
    tell_apart = "the target of a distance has a gradient, and comes from the layer that gave the answer"
    needs = (EstimateAsTarget,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        found = list(run.all(EstimateAsTarget))
        looks = len({seen.step for seen in found})
        if looks < _LEAST_STEPS or len({seen.made for seen in found}) != 1:
            return
        seen = found[0]
        where = seen.made or seen.where
        yield self.diagnose(
            headline=f"the target `{seen.target}` keeps its gradient: the model is trained to move the target as well",
            confidence="likely",
            step=seen.step,
            where=where,
            mark=seen.made_text,
            label="estimated by the weights that are trained, with their gradient",
            also=(Also(location=seen.where, why="the answer is compared with it here"),)
            if seen.where is not None and seen.where != where
            else (),
            culprit=Culprit(op="add", phase="forward", tensor=seen.target),
            evidence=(
                f"in all {looks} steps looked at, one layer gave the answer and the estimate "
                f"in `{seen.made_text}`, and both had a gradient",
            ),
            remedies=(
                Remedy(
                    title=f"compute `{seen.target}` under `torch.no_grad()`, or use `{receiver(seen.target)}.detach()`"
                ),
                Remedy(title="or let a copy of the model, updated now and then, estimate it"),
            ),
        )
