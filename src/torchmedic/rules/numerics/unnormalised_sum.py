"""A network that sums where a mean would keep the scale: with many terms, layer by layer, values blow up."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, SummedUp, SumTrial
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.numerics._explosions import sum_that_explodes
from torchmedic.rules.numerics._reading import number, short
from torchmedic.rules.wiring._telling import also, counted


class UnnormalisedSum(Rule):
    """The first answers are enormous, and are not when one line takes means instead."""

    code = "NUM050"
    name = "unnormalised-sum"
    symptoms = (Symptom.LOSS_NOISY, Symptom.LOSS_NAN, Symptom.SCORE_LOW)
    tell_apart = "the very first loss is enormous, and sane when a sum over neighbours or elements becomes a mean"
    needs = (SummedUp, SumTrial)
    folds = ("exploding-initialisation", "exploding-activations", "TRN", "NUM", "LOS")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        found = sum_that_explodes(run)
        if found is None:
            return
        summed, trial = found
        where = summed.option or summed.where
        yield self.diagnose(
            headline=_headline(summed, trial),
            confidence="proven",
            step=1,
            where=where,
            mark="" if summed.option else summed.expression,
            label=f"`{summed.layer}` aggregates with `{summed.chosen}`" if summed.option else "summed up here",
            also=also((summed.where, "summed up here"), where=where),
            culprit=Culprit(op="sum", phase="forward", tensor=summed.expression or None, module=summed.layer or None),
            evidence=(
                f"`{short(summed.expression, 60)}` is called {counted(summed.calls, 'time')} in one pass; the largest "
                f"value that comes out is {number(summed.largest)}",
                "the script was run again up to its first loss, with each sum divided by the number of its terms",
            ),
            remedies=(Remedy(title=_cure(summed), verified=True),),
        )


def _headline(summed: SummedUp, trial: SumTrial) -> str:
    first, mean = number(summed.loss), number(trial.loss)
    if summed.option:
        return f"sums over {summed.terms} neighbours make the first loss {first}; with means it is {mean}"
    return f"sums over {summed.terms} terms make the first loss {first}; with means it is {mean}"


def _cure(summed: SummedUp) -> str:
    if summed.option:
        return f"aggregate with the mean: `aggr='mean'` in `{summed.layer}`"
    return f"divide `{short(summed.expression, 60)}` by the number of its terms, or take the mean"
