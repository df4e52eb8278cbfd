"""A mixed-precision training that goes on from a checkpoint with a loss scale of the beginning."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, ScalerLeftInFile
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also, counted

_LEAST_STEPS = 10


class ScalerStateLeftInFile(Rule):
    """The file holds a scaler's state, the optimizer's state was loaded from it, and the scaler began anew."""

    code = "WIR062"
    name = "scaler-state-left-in-file"
    severity = "warning"
    symptoms = (Symptom.CHECKPOINT_DIFFERS, Symptom.LOSS_NOISY)
    tell_apart = "the checkpoint has a `GradScaler`'s state, and `scaler.load_state_dict` is never called"
    needs = (ScalerLeftInFile,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(ScalerLeftInFile):
            differs = seen.scale > 0 and seen.first_scale > 0 and seen.scale != seen.first_scale
            if not seen.optimizer_loaded or not differs or seen.steps < _LEAST_STEPS:
                continue
            where = seen.loaded or seen.read
            yield self.diagnose(
                headline=f"the checkpoint holds the state of a `GradScaler` under '{seen.key}'; nothing loads it",
                confidence="likely",
                where=where,
                label=f"nothing of '{seen.key}' is loaded beside it",
                also=also(
                    (seen.read, f"'{seen.key}' has scale={seen.scale:g}"),
                    (seen.stepped, f"the scaler begins anew with {seen.first_scale:g}"),
                    where=where,
                ),
                culprit=Culprit(op="load_state_dict", phase="setup", tensor=seen.key),
                evidence=(
                    f"the optimizer's state was loaded, so the training goes on; its scale went from {seen.scale:g} "
                    f"back to {seen.first_scale:g}",
                    f"{counted(seen.steps, 'step')} followed: with too high a scale the first ones are left out",
                ),
                remedies=(Remedy(title=f"call `scaler.load_state_dict(checkpoint['{seen.key}'])` before training"),),
            )
