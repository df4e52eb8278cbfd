"""A `collate_fn` sorts or shuffles one field of its samples and leaves another: inputs meet the labels of others."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import CollatedApart, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom

_SHOWN = 6


class FieldsCollatedApart(Rule):
    """Row by row, two fields of a batch come from different samples."""

    code = "DAT176"
    name = "fields-collated-apart"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "collated again, the rows of two fields of a batch come from different samples"
    needs = (CollatedApart,)
    folds = ("TRN", "answers-unrelated-to-targets", "majority-class-answered")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(CollatedApart):
            shown = ", ".join(str(k) for k in seen.order[:_SHOWN])
            yield self.diagnose(
                headline=f"`{seen.function}` puts one field of the samples in a new order and leaves another as it was",
                confidence="proven",
                where=seen.where,
                label="takes only a part of each sample along",
                also=(Also(location=seen.built, why="the loader that uses it"),) if seen.built is not None else (),
                culprit=Culprit(op="sort", phase="data", tensor=seen.function, rows=len(seen.order)),
                evidence=(
                    f"a batch of {len(seen.order)} samples was collated again: the rows of field `{seen.moved}` come "
                    f"from samples {shown}, …",
                    f"the rows of field `{seen.left}` come from samples 0, 1, 2, …: they belong to other samples",
                ),
                remedies=(
                    Remedy(title="sort (or shuffle) the samples whole, before they are split into fields"),
                    Remedy(title="or put every field in the same order"),
                ),
            )
