"""The model folds its batch into one row: one answer is compared with the target of every sample."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import OneAnswerForAll, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also, repeated, short


class OneAnswerForBatch(Rule):
    """A single prediction, made of all samples of the batch, broadcasts against a target for each of them."""

    code = "LOS083"
    name = "one-answer-for-batch"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "the model returns one value for a batch, whatever the number of its samples"
    needs = (OneAnswerForAll,)
    folds = ("TRN", "answers-unrelated-to-targets")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for found in repeated(run.all(OneAnswerForAll), key=lambda seen: (seen.folded, seen.where)):
            yield self._diagnosis(found[0])

    def _diagnosis(self, seen: OneAnswerForAll) -> Diagnosis:
        what = "graphs" if seen.batch else "samples"
        where = seen.called or seen.folded
        return self.diagnose(
            headline=f"one answer for {seen.samples} {what}: `{short(seen.folded_text)}` folds the batch",
            confidence="proven",
            step=seen.step,
            where=where,
            mark="" if seen.called else seen.folded_text,
            label=f"is not given `{seen.missing}`" if seen.missing else f"folds {seen.rows} rows into one",
            also=also(
                (seen.folded, f"folds {seen.rows} rows into one, as `{seen.missing}` is None"),
                (seen.where, f"the one answer is compared with {seen.samples} targets"),
                where=where,
            ),
            culprit=Culprit(op="mean", phase="forward", tensor=seen.missing or seen.folded_text),
            evidence=(
                f"`{seen.expression}` compares one value with {seen.samples} different ones, by broadcasting",
                "such a loss falls no lower than that of one constant answer",
            ),
            remedies=(_remedy(seen),),
        )


def _remedy(seen: OneAnswerForAll) -> Remedy:
    if seen.missing and seen.batch:
        return Remedy(title=f"pass `{seen.batch}.batch` as `{seen.missing}`: it says to which graph each node belongs")
    if seen.missing:
        return Remedy(title=f"pass `{seen.missing}`: it says to which sample each row belongs")
    if seen.batch:
        return Remedy(title=f"pool each graph by itself: `global_mean_pool(x, {seen.batch}.batch)`")
    return Remedy(title="fold another dimension than the first one, which counts the samples")
