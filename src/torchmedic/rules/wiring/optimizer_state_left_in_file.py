"""A training that goes on from a checkpoint with the weights, but without what its optimizer had gathered."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, StateLeftInFile
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also

_LEAST_STEPS = 10


class OptimizerStateLeftInFile(Rule):
    """The file holds the state of just such an optimizer, and no optimizer was given it."""

    code = "WIR051"
    name = "optimizer-state-left-in-file"
    severity = "warning"
    symptoms = (Symptom.CHECKPOINT_DIFFERS, Symptom.LOSS_NOISY)
    tell_apart = "the checkpoint has the optimizer's state, and `optimizer.load_state_dict` is never called"
    needs = (StateLeftInFile,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(StateLeftInFile):
            if not seen.fits or not seen.model_loaded or seen.steps < _LEAST_STEPS:
                continue
            where = seen.loaded or seen.read
            yield self.diagnose(
                headline=f"the checkpoint holds the state of `{seen.optimizer}` under '{seen.key}'; nothing loads it",
                confidence="likely",
                where=where,
                label=f"loads the weights, and nothing of '{seen.key}'",
                also=also(
                    (seen.read, f"'{seen.key}' has the state of {seen.entries} parameters"),
                    (seen.built, f"`{seen.optimizer}` begins anew"),
                    where=where,
                ),
                culprit=Culprit(op="load_state_dict", phase="setup", tensor=seen.key),
                evidence=(
                    f"`{seen.optimizer}` has as many parameters, the same settings and the same rate: it goes on with "
                    "the training in the file",
                    f"it made {seen.steps} steps with moments that began at 0 again",
                ),
                remedies=(Remedy(title=f"call `optimizer.load_state_dict(checkpoint['{seen.key}'])` before training"),),
            )
