"""Answers of a shuffled loader are scored against labels in their original order: the score is that of guessing."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, ScoredInAnotherOrder
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also, short


class ScoredInAnotherOrderThanAnswered(Rule):
    """The labels are those of the pass, the order is not, and the answers fit the order of the pass."""

    code = "DAT241"
    name = "scored-in-another-order"
    symptoms = (Symptom.SCORE_LOW,)
    tell_apart = "the answers fit the labels as the loader handed them out, and not those that the metric is given"
    needs = (ScoredInAnotherOrder,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        seen = run.first(ScoredInAnotherOrder)
        if seen is None:
            return
        is_shuffled = seen.is_shuffled and seen.built is not None
        where = seen.built if is_shuffled else seen.where
        target, answer = short(seen.target), short(seen.answer)
        loader = f"`{seen.loader[0]}`" if seen.loader else "the loader"
        yield self.diagnose(
            headline=f"`{answer}` is in the order of a shuffled pass, `{target}` is not"
            if is_shuffled
            else f"`{answer}` is in the order of {loader}, `{target}` in another one",
            confidence="proven",
            step=seen.step,
            where=where,
            label="this loader shuffles what is evaluated" if is_shuffled else f"`{target}` is in another order",
            also=also(
                (seen.where, f"`{target}` is in its original order here"),
                (seen.built, "the loader is built here"),
                where=where,
            ),
            culprit=Culprit(phase="data", tensor=seen.target, rows=seen.samples),
            evidence=(
                f"`{target}` holds the {seen.samples} labels that {loader} handed out, in another order",
                f"held against the labels as they came, {100 * seen.handed_out:.0f} % of the answers are right; as "
                f"they are scored, {100 * seen.as_scored:.0f} %"
                if seen.is_share
                else f"the answers follow the labels as they came with a correlation of {seen.handed_out:.2f}; as "
                f"they are scored, {seen.as_scored:.2f}",
            ),
            remedies=(
                *((Remedy(title="evaluate with `shuffle=False`"),) if is_shuffled else ()),
                Remedy(title="collect the labels in the same loop as the answers, and score against these"),
            ),
        )
