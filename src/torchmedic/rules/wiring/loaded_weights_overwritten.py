"""Weights were loaded and then initialised anew, before the model was ever called."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LoadOverwritten, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also

_LEAST_SHARE = 0.8


class LoadedWeightsOverwritten(Rule):
    """Nearly all matrices that were loaded have other values at the first call."""

    code = "WIR086"
    name = "loaded-weights-overwritten"
    symptoms = (Symptom.SCORE_LOW, Symptom.CHECKPOINT_DIFFERS)
    tell_apart = "a model that was loaded begins as if it had not been"
    needs = (LoadOverwritten,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(LoadOverwritten):
            if seen.changed < _LEAST_SHARE * seen.looked_at:
                continue
            yield self.diagnose(
                headline=f"the weights loaded into `{seen.module}` were overwritten before it was first called",
                confidence="proven",
                step=seen.step,
                where=seen.overwritten or seen.loaded,
                mark=seen.overwritten_text,
                label="sets the weights anew" if seen.overwritten else "what is loaded here does not last",
                also=also((seen.loaded, "they were loaded here")) if seen.overwritten else (),
                culprit=Culprit(op=seen.overwritten_text or "load_state_dict", parameter=seen.example),
                evidence=(
                    f"{seen.changed} of {seen.looked_at} matrices that `load_state_dict` had set, `{seen.example}` "
                    f"among them, had values without any likeness to them at the first call",
                ),
                remedies=(Remedy(title="initialise first, and load afterwards"),),
            )
