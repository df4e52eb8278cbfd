"""An evaluation overwrites a setting of a module, dropout for instance, and training goes on without it."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, SettingNotRestored
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom


class SettingLostInEvaluation(Rule):
    """What was meant for the evaluation alone is in force in the training steps after it."""

    code = "WIR261"
    name = "setting-lost-in-evaluation"
    symptoms = (Symptom.SCORE_LOW,)
    tell_apart = "the first epoch trains otherwise than all that follow: an attribute has another value in them"
    needs = (SettingNotRestored,)
    folds = ("TRN",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(SettingNotRestored):
            others = f" of {seen.modules} modules" if seen.modules > 1 else ""
            yield self.diagnose(
                headline=f"`{seen.attribute}` of `{seen.module}` is {seen.after:g} in training since an evaluation set "
                f"it; before it was {seen.before:g}",
                confidence="proven",
                step=seen.step,
                where=seen.where,
                mark=seen.text,
                label="overwrites the setting for good",
                culprit=Culprit(module=seen.module, op=seen.attribute, phase="forward"),
                evidence=(
                    f"`{seen.attribute}`{others} had this value from step {seen.step} to the end, for {seen.steps} "
                    f"steps",
                    f"`{seen.text}` is the one line outside of `__init__` that sets it",
                ),
                remedies=(_cure(seen),),
            )


def _cure(seen: SettingNotRestored) -> Remedy:
    if not seen.text.startswith("self."):
        return Remedy(title="give it its old value back before training goes on, or leave it to `eval()`")
    choice = f"`value = self.{seen.attribute} if self.training else {seen.after:g}`"
    return Remedy(title="keep it as it is, and choose by the mode where it is read", detail=choice)
