"""`model.eval()` before an evaluation and no `train()` after it: dropout and BatchNorm sleep through training."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, TrainedInEval
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also


class TrainingInEvalMode(Rule):
    """Training steps ran with the whole model in evaluation mode, left over from an evaluation."""

    code = "WIR021"
    name = "training-in-eval-mode"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_FLAT, Symptom.CHECKPOINT_DIFFERS)
    tell_apart = "`eval()` was called on the whole model for an evaluation, and the steps after it ran in that mode"
    needs = (TrainedInEval,)
    folds = ("TRN",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(TrainedInEval):
            if seen.eval_called is None or seen.steps_in_eval < max(3, 0.2 * seen.steps_seen):
                continue
            if not seen.evaluated and seen.eval_calls < 2 and not seen.unmeasured:
                continue  # statistics that were loaded may be kept on purpose
            layers = " and ".join(f"{n} `{kind}`" for kind, n in seen.layers.items())
            never = not seen.train_calls
            yield self.diagnose(
                headline=f"{seen.steps_in_eval} of {seen.steps_seen} training steps after `eval()` ran in eval mode",
                confidence="proven",
                where=seen.eval_called,
                label="nothing switches back to `train()` after this" + ("" if never else " before training goes on"),
                also=also(
                    (seen.train_called, "`train()` is called here, but not between the evaluation and the next step"),
                    (seen.stepped, "the first training step in eval mode"),
                    where=seen.eval_called,
                )[:2],
                culprit=Culprit(module=seen.model, op="eval", phase="forward"),
                evidence=(
                    f"{layers} of `{seen.model}` did not work as in training: no dropout, statistics standing still",
                    f"`eval()` was called {seen.eval_calls} times, `train()` {seen.train_calls} times",
                    *(_unmeasured(seen.unmeasured) if seen.unmeasured else ()),
                ),
                remedies=(
                    Remedy(
                        title="call `model.train()` after the evaluation, or at the top of every training step or epoch"
                    ),
                ),
            )


def _unmeasured(layers: int) -> tuple[str, ...]:
    which = "1 BatchNorm normalises" if layers == 1 else f"{layers} BatchNorms normalise"
    return (f"{which} by the mean 0 and the variance 1 of a new layer: no batch has ever gone into its statistics",)
