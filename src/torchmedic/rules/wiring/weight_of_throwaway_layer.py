"""A weight taken out of a layer that was built only for it: a plain tensor that nothing trains or saves."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import BorrowedWeight, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also, short


class WeightOfThrowawayLayer(Rule):
    """`self.w = nn.Linear(…).weight.data` keeps the numbers and throws the parameter away."""

    code = "WIR036"
    name = "weight-of-throwaway-layer"
    severity = "warning"
    symptoms = (Symptom.WEIGHTS_STILL, Symptom.LOSS_FLAT, Symptom.CHECKPOINT_DIFFERS)
    tell_apart = "the tensor was taken out of a layer in the statement that built the layer"
    needs = (BorrowedWeight,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(BorrowedWeight):
            holder = f"self.{seen.attribute}"
            yield self.diagnose(
                headline=f"`{short(holder)}` of `{short(seen.owner, 20)}` is a layer's weight without its parameter",
                confidence="proven",
                step=seen.step,
                where=seen.hung,
                label="the numbers of a new layer, as a plain tensor",
                also=also((seen.optimizer_built, "this optimizer never saw it"), where=seen.hung),
                culprit=Culprit(parameter=seen.attribute, tensor=seen.attribute, module=seen.owner, phase="setup"),
                evidence=(
                    f"`{seen.attribute}` {list(seen.shape)} needs no gradient and kept its first values to the end",
                    f"`parameters()` and `state_dict()` of `{seen.owner}` lack it: it is not trained and not saved",
                ),
                remedies=(
                    Remedy(title=f"keep the whole layer: `{holder} = nn.Linear(…)`, and call it in `forward`"),
                    Remedy(title=f"or make it a parameter: `{holder} = nn.Parameter(…)`"),
                    Remedy(title=f"or, if it is to stay random, `register_buffer({seen.attribute!r}, …)`"),
                ),
            )
