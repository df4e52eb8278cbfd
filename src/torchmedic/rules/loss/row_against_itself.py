"""A contrastive loss in which every row is one of its own negatives: the most similar one, which always wins."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, SelfAmongNegatives
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import short

_LEAST_STEPS = 3


class RowAgainstItself(Rule):
    """The diagonal of a table of similarities is left in the softmax, and no target ever lies on it."""

    code = "LOS142"
    name = "row-against-itself"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "the diagonal of the table is the largest number of each row, and is never the target"
    needs = (SelfAmongNegatives,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        by_line: dict[str, list[SelfAmongNegatives]] = {}
        for seen in run.all(SelfAmongNegatives):
            by_line.setdefault(str(seen.where), []).append(seen)
        for calls in by_line.values():
            if len({call.step for call in calls}) >= _LEAST_STEPS:
                yield self._told(calls)

    def _told(self, calls: list[SelfAmongNegatives]) -> Diagnosis:
        first = calls[0]
        where = first.made or first.where
        by_hand = first.function == "sum"
        is_elsewhere = first.where is not None and first.where != where
        return self.diagnose(
            headline=f"each row of `{short(first.table)}` competes with itself: the diagonal is not masked",
            confidence="likely" if by_hand else "proven",
            step=first.step,
            where=where,
            mark=first.made_text,
            label="the diagonal is the similarity of a row to itself",
            also=(Also(location=first.where, why="the sum over all rows" if by_hand else "the loss"),)
            if is_elsewhere and first.where is not None
            else (),
            culprit=Culprit(op=first.function, phase="forward", tensor=first.table),
            evidence=(
                f"in {len(calls)} calls looked at, the table was symmetric and its diagonal, the self-similarity, was "
                f"the largest number of each of its {first.size} rows",
                "the sum of the softmax holds the diagonal, which nothing can make smaller: the positive never wins"
                if by_hand
                else "no target lies on the diagonal, so that the largest score of every row is always a wrong answer",
            ),
            remedies=(
                Remedy(title="mask it: `masked_fill(torch.eye(n, dtype=torch.bool, device=…), float('-inf'))`"),
                Remedy(title="or compare the two views with each other: `z_i @ z_j.t()`"),
            ),
        )
