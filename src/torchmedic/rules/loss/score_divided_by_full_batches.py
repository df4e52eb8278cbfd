"""A score is divided by full batches, and the last batch is short."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import DividedByFullBatches, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom


class ScoreDividedByFullBatches(Rule):
    """`len(loader) * batch_size` counts rows that the last batch does not have, so the score can never reach 1."""

    code = "LOS070"
    name = "score-divided-by-full-batches"
    symptoms = (Symptom.SCORE_LOW,)
    tell_apart = "the loss of the evaluation is fine; its score stays below a value that it cannot pass"
    needs = (DividedByFullBatches,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in {seen.where: seen for seen in run.all(DividedByFullBatches)}.values():
            divisor, name = seen.batches * seen.batch_size, seen.loader
            yield self.diagnose(
                headline=f"`{seen.counted}` is divided by {divisor}, and `{name}` has {seen.rows} rows",
                confidence="proven" if seen.is_there else "likely",
                where=seen.where,
                mark=seen.text,
                label="counts the last batch as full",
                also=(Also(location=seen.built, why="the loader"),) if seen.built is not None else (),
                culprit=Culprit(phase="evaluation", tensor=seen.counted, field=seen.divisor),
                evidence=(
                    f"`{seen.divisor}` is {seen.batches} x {seen.batch_size}; the last batch of `{name}` has "
                    f"{seen.rows - (seen.batches - 1) * seen.batch_size} rows",
                    f"a perfect score comes out as {seen.rows / divisor:.3f}: every score is {divisor / seen.rows:.2f} "
                    "times too small",
                ),
                remedies=(
                    Remedy(title=f"divide by the rows: `len({name}.dataset)`"),
                    Remedy(title="or add up the rows of each batch, `total += len(y)`, and divide by them"),
                ),
            )
