"""`best = model.state_dict()` keeps references: training goes on and changes the kept weights too."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, StateLoaded
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also


class BestStateByReference(Rule):
    """A state dict that shares its memory with the model was loaded back after more training."""

    code = "WIR029"
    name = "best-state-by-reference"
    symptoms = (Symptom.CHECKPOINT_DIFFERS, Symptom.SCORE_LOW)
    tell_apart = "the loaded tensors are the very memory of the model, kept some steps ago"
    needs = (StateLoaded,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(StateLoaded):
            if not seen.own or seen.own < 0.9 * seen.matched or seen.kept_at is None or seen.steps_since < 1:
                continue
            yield self.diagnose(
                headline=f"the state kept at step {seen.kept_step} is no copy, {seen.steps_since} steps changed it too",
                confidence="proven",
                step=seen.step,
                where=seen.kept_at,
                label="`state_dict()` returns the live tensors, not copies",
                also=also((seen.where, "loading it back changes nothing"), where=seen.kept_at),
                culprit=Culprit(op="state_dict", module=seen.model, phase="setup"),
                evidence=(
                    f"{seen.own} of {seen.matched} tensors given to `load_state_dict` are the model's own memory",
                    "so the weights after loading are those of the last step, not of the best one",
                ),
                remedies=(
                    Remedy(title="keep a copy: `copy.deepcopy(model.state_dict())`, or `{k: v.clone() for k, v in …}`"),
                    Remedy(title="or `torch.save` it to a file"),
                ),
            )
