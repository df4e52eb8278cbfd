"""Weights in bfloat16 or float16: the update is smaller than the gap between two numbers, and rounds away."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import RoundedAway, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also, listed, short


class UpdateRoundedAway(Rule):
    """Of the weights with a gradient, nearly all were bit for bit the same after a step."""

    code = "WIR030"
    name = "update-rounded-away"
    symptoms = (Symptom.WEIGHTS_STILL, Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "the parameters themselves are bfloat16 or float16, and steps with a gradient leave them unchanged"
    needs = (RoundedAway,)
    folds = ("TRN",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        still = [seen for seen in run.all(RoundedAway) if seen.unchanged >= 0.5]
        if not still:
            return
        seen = still[0]
        names = [item.name for item in still]
        share = f"{100 * seen.unchanged:.0f} %"
        yield self.diagnose(
            headline=f"updates round away: {share} of `{short(seen.name)}` ({seen.dtype}) stay the same",
            confidence="proven",
            step=seen.step,
            where=seen.born or seen.optimizer_built,
            label=f"weights in {seen.dtype}",
            also=also(
                (seen.optimizer_built, f"lr {seen.lr:.3g} makes updates smaller than the spacing"), where=seen.born
            ),
            culprit=Culprit(parameter=seen.name, phase="optimizer", op=seen.dtype),
            evidence=(
                f"of {seen.looked_at} weights with a gradient, {100 * seen.unchanged:.1f} % did not change",
                f"a typical weight is {seen.typical_weight:.2g} and the next {seen.dtype} is {seen.spacing:.1g} away",
                f"affected: {listed(names)}",
            ),
            remedies=(
                Remedy(title="keep the weights in float32 and use `torch.autocast` for the short format"),
                Remedy(title="or keep a float32 master copy in the optimizer"),
            ),
        )
