"""An option that was switched off on the command line, and is on."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import FalseTakenForTrue, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom


class FalseTakenForTrueRule(Rule):
    """`type=bool` makes True of every text that is not empty, `False` among them."""

    code = "WIR091"
    name = "false-taken-for-true"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_FLAT, Symptom.WEIGHTS_STILL)
    tell_apart = "an option of `argparse` has `type=bool`, and was given `False`"
    needs = (FalseTakenForTrue,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in {each.option: each for each in run.all(FalseTakenForTrue)}.values():
            yield self.diagnose(
                headline=f"`{seen.option} {seen.text}` sets `{seen.name}` to True",
                confidence="proven",
                where=seen.where,
                label=f"`bool('{seen.text}')` is True",
                culprit=Culprit(phase="setup", field=seen.name),
                evidence=(f"`type=bool` calls `bool` on the text: all but the empty one are True, `{seen.text}` too",),
                remedies=(
                    Remedy(
                        title=f"use `action=argparse.BooleanOptionalAction` instead of `type=bool` for `{seen.option}`"
                    ),
                    Remedy(
                        title="or give `type` a function that reads the text: `lambda text: text.lower() == 'true'`"
                    ),
                ),
            )
