"""A contrastive loss whose right answer for every row is the row itself."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import OwnPositive, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom


class SampleIsItsOwnPositive(Rule):
    """The table of similarities is symmetric, largest on its diagonal, and the targets are that diagonal."""

    code = "LOS061"
    name = "sample-is-its-own-positive"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_ZERO)
    tell_apart = "each row of the table is compared with itself, which is always the most similar"
    needs = (OwnPositive,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        found = list(run.all(OwnPositive))
        if len({seen.step for seen in found}) < 3:
            return
        seen = found[0]
        table, target = seen.names
        where = seen.target_made or seen.where
        others = [(seen.table_made, f"`{table}` is made here, with itself on both sides"), (seen.where, "the loss")]
        yield self.diagnose(
            headline=f"the right answer of each of the {seen.size} rows of `{table}` is the row itself",
            confidence="proven",
            step=seen.step,
            where=where,
            label="these point at the diagonal",
            also=tuple(Also(location=place, why=why) for place, why in others if place is not None and place != where),
            culprit=Culprit(op="cross_entropy", phase="forward", tensor=table),
            evidence=(
                f"`{table}` is symmetric, and its diagonal, the similarity of a row to itself, is the largest number "
                f"of every row",
                f"`{target}` counts 0, 1, 2, …: the positive pairs of two views are never asked for",
            ),
            remedies=(
                Remedy(title=f"fill the diagonal of `{table}` with `-inf`, and point `{target}` at the other view"),
                Remedy(title="or compare the two views with each other: `z_i @ z_j.t()`"),
            ),
        )
