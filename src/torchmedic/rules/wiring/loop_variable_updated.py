"""An update by hand that changes the variable of a loop, and not the weights the loop runs over."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, UpdateOfName
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also


class LoopVariableUpdated(Rule):
    """`p = p - …` makes a new tensor, binds `p` to it, and the next turn of the loop drops it."""

    code = "WIR200"
    name = "loop-variable-updated"
    symptoms = (Symptom.WEIGHTS_STILL, Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "backward runs, no weight ever moves, and the update assigns to the variable of its own loop"
    needs = (UpdateOfName,)
    folds = ("TRN", "LOS")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(UpdateOfName):
            name = seen.name
            yield self.diagnose(
                headline=f"the update binds `{name}` to a new tensor, and no weight ever moves",
                confidence="proven",
                step=seen.step,
                where=seen.where,
                label=f"the new `{name}` is dropped with the next turn of the loop",
                also=also((seen.backward, "the gradients are computed here"), where=seen.where),
                culprit=Culprit(tensor=name, phase="update"),
                evidence=(
                    f"{seen.weights} weights that the first backward reached have the values they began with",
                    f"`{name} = {name} - …` leaves the tensor as it is that the loop took out",
                ),
                remedies=(
                    Remedy(title=f"change the weight in place, under `torch.no_grad()`: `{name} -= …`"),
                    Remedy(title="or let an optimizer of `torch.optim` make the updates"),
                ),
            )
