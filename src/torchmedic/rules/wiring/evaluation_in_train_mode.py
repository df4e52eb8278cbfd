"""Validation without `model.eval()`: dropout drops, and BatchNorm uses, and learns from, the test batch."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchmedic.facts import EvaluatedInTrain, Location, Run, TrainedInEval
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also, counted

_MEASURES = re.compile(
    r"acc|correct|\beval|valid|\bval_|_val\b|\btest|score|metric|mse|rmse|\br2\b|loss|f1|predict|argmax", re.IGNORECASE
)
_GENERATES = re.compile(
    r"noise|fake|generat|sample|teacher|ema\b|target_net|mc_|monte|update_bn|ensemble", re.IGNORECASE
)


class EvaluationInTrainMode(Rule):
    """A model with mode-dependent layers was measured without gradient, and `eval()` was never called on it."""

    code = "WIR034"
    name = "evaluation-in-train-mode"
    severity = "warning"
    symptoms = (Symptom.SCORE_LOW, Symptom.NOT_REPRODUCIBLE, Symptom.CHECKPOINT_DIFFERS)
    tell_apart = (
        "the passes without gradient are measurements, rare against the steps, and the layers were in training mode"
    )
    needs = (EvaluatedInTrain,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(EvaluatedInTrain):
            rare = seen.phases <= max(3, seen.steps / 4)
            measures = bool(_MEASURES.search(seen.block_text)) and not _GENERATES.search(seen.block_text)
            if seen.eval_calls or not rare or not measures or run.first(TrainedInEval) is not None:
                continue
            if seen.own_train is not None:
                yield self._mode_dropped(seen, seen.own_train)
                continue
            wrong = seen.loaded or seen.train_called
            layers = " and ".join(f"{n} `{kind}`" for kind, n in seen.layers.items())
            yield self.diagnose(
                headline=f"`{seen.model}` is evaluated in training mode: `eval()` is never called",
                confidence="likely",
                where=wrong or seen.block,
                label=_label(seen),
                also=also((seen.where, "the model is called here"), where=wrong or seen.block),
                culprit=Culprit(module=seen.model, op="eval", phase="forward"),
                evidence=(
                    f"{layers} were in training mode in {counted(seen.phases, 'evaluation')}",
                    "`BatchNorm` then normalises by the test batch and learns from it; dropout makes it random",
                ),
                remedies=(
                    Remedy(title="call `model.eval()` once it is loaded")
                    if seen.loaded
                    else Remedy(title="call `model.eval()` before the evaluation and `model.train()` after it"),
                ),
            )

    def _mode_dropped(self, seen: EvaluatedInTrain, where: Location) -> Diagnosis:
        return self.diagnose(
            headline=f"`{seen.model}.train` drops its `mode`: `eval()` leaves the model in training mode",
            confidence="proven",
            where=where,
            label="torch's `train()` takes `mode=True` where none is given",
            also=also((seen.block, "evaluated here, in training mode"), where=where),
            culprit=Culprit(module=seen.model, op="train", phase="forward"),
            evidence=(
                f"`eval()` is `train(False)`; layers were in training mode in {counted(seen.phases, 'evaluation')}",
            ),
            remedies=(Remedy(title="hand it on: `super().train(mode)`"),),
        )


def _label(seen: EvaluatedInTrain) -> str:
    if seen.loaded is not None:
        return "loads what was trained, and leaves the model in training mode"
    if seen.train_called is not None:
        return "`eval()` is meant: what follows only evaluates"
    return "no gradients here, but dropout and BatchNorm still work as in training"
