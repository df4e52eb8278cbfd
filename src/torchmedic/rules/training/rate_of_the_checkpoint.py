"""A new learning rate that `load_state_dict` replaces by the decayed one of the training before."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import RateFromFile, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also


class RateOfTheCheckpoint(Rule):
    """The optimizer was built for a training of its own, and trains with what another had come down to."""

    code = "TRN065"
    name = "rate-of-the-checkpoint"
    severity = "warning"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW, Symptom.WEIGHTS_STILL)
    tell_apart = "the optimizer trains with another rate than the one it was built with, since its state was loaded"
    needs = (RateFromFile,)
    folds = ("learning-rate-too-low", "schedule-begun-anew", "schedule-used-up", "learning-rate-zero")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(RateFromFile):
            where = seen.loaded or seen.built
            yield self.diagnose(
                headline=f"`optimizer.load_state_dict` replaces lr={seen.given:g} by lr={seen.rate:.2g} "
                "of the checkpoint",
                confidence="likely",
                step=seen.step,
                where=where,
                label="brings the `param_groups` of the file along, and with them its learning rate",
                also=also((seen.built, f"`{seen.optimizer}` is built with lr={seen.given:g}"), where=where),
                culprit=Culprit(op="optimizer.load_state_dict", phase="setup", tensor="lr"),
                evidence=(
                    f"the training in the file began with lr={seen.first_rate:g} and had come down to "
                    f"lr={seen.rate:.2g}",
                    f"{seen.steps} steps were made after that, none with more than lr={seen.highest:.2g}",
                ),
                remedies=(
                    Remedy(
                        title=f"set the rate after loading: `for group in optimizer.param_groups: group['lr'] = "
                        f"group['initial_lr'] = {seen.given:g}`"
                    ),
                    Remedy(title="or begin with a fresh optimizer, and load the weights of the model alone"),
                ),
            )
