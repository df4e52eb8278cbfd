"""A layer or parameter made inside `forward`: a new one in every step, and none is ever trained."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import OptimizerSeen, Run, StrayLeaf
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also


class ParameterBornInForward(Rule):
    """The same line gave birth to another parameter in each of several steps."""

    code = "WIR003"
    name = "parameter-born-in-forward"
    symptoms = (Symptom.WEIGHTS_STILL, Symptom.LOSS_FLAT, Symptom.LOSS_NOISY, Symptom.SCORE_LOW)
    tell_apart = "the parameter is another object in every step, born at one line inside a forward pass"
    needs = (StrayLeaf, OptimizerSeen)
    folds = ("TRN",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        optimizer = run.first(OptimizerSeen)
        for leaf in run.all(StrayLeaf):
            if leaf.place != "anew" or leaf.steps < 2 or leaf.born is None:
                continue
            what = f"`{leaf.layer}`" if leaf.layer else _made(leaf.born.source)
            yield self.diagnose(
                headline=f"{what} is created anew in every forward pass and never trained",
                confidence="proven",
                where=leaf.born,
                label="runs in every step: random weights each time",
                also=also((optimizer.built if optimizer else None, "this optimizer was built without it")),
                culprit=Culprit(parameter=leaf.name, module=leaf.layer or None, phase="forward"),
                evidence=(
                    f"{leaf.steps} steps were looked at: each had another parameter of shape {list(leaf.shape)}",
                    "it is not registered in the module, in no optimizer, and gone after the step",
                ),
                remedies=(
                    Remedy(title="create it once in `__init__` as `self.…` and use that in `forward`"),
                    Remedy(title="build the optimizer after that, so that `parameters()` contains it"),
                ),
            )


def _made(source: str) -> str:
    for name in ("nn.Parameter", "Linear", "Conv1d", "Conv2d", "Embedding", "LayerNorm", "GRU", "LSTM"):
        if name in source:
            return f"`{name}`"
    return "a parameter"
