"""The output layer is frozen as it was drawn at random, while others learn: usually a filter gone wrong."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import FrozenLastLayer, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also, counted, listed, short


class FrozenLastLayerRule(Rule):
    """The last weights before the loss have `requires_grad=False`, and nothing ever loaded or trained them."""

    code = "WIR013"
    name = "frozen-last-layer"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW, Symptom.WEIGHTS_STILL)
    tell_apart = "the layer nearest to the loss was never loaded or trained, and `requires_grad` is off"
    needs = (FrozenLastLayer,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(FrozenLastLayer):
            first = seen.frozen_at[0] if seen.frozen_at else None
            name = seen.parameters[0].rpartition(".")[0] or seen.parameters[0]
            yield self.diagnose(
                headline=f"the last layer `{short(name)}` is frozen with its random initial weights",
                confidence="likely",
                severity="error" if seen.frozen_at else "warning",
                where=first or seen.optimizer_built,
                label=f"{listed(seen.parameters, 2)} frozen, never loaded and never trained",
                also=also(
                    *((place, "gradients are switched off here too") for place in seen.frozen_at[1:3]), where=first
                ),
                culprit=Culprit(parameter=seen.parameters[0], module=name, phase="setup"),
                evidence=(
                    f"`requires_grad` is False for {counted(seen.frozen_count, 'parameter')} of the model, "
                    f"among them {listed(seen.parameters)} right before the loss",
                    f"what learns: {listed(seen.trainable, 4)}",
                ),
                remedies=(
                    Remedy(
                        title=f"leave the new layer trainable: `model.{name}.requires_grad_(True)`, or mend the filter"
                    ),
                ),
            )
