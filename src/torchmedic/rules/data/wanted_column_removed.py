"""A Trainer removed a column that the script's own code asks for: it goes on as if there were none."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, WantedColumnRemoved
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom


class WantedColumnRemovedByTrainer(Rule):
    """`remove_unused_columns` keeps the columns that `forward` has a parameter for, whatever `compute_loss` reads."""

    code = "DAT242"
    name = "wanted-column-removed"
    symptoms = (Symptom.SCORE_LOW,)
    tell_apart = "the samples have the column, and the batches that reach `compute_loss` do not"
    needs = (WantedColumnRemoved,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        seen = run.first(WantedColumnRemoved)
        if seen is None:
            return
        asked = Also(location=seen.asked, why=f"asks for `{seen.column}`, and goes on without it")
        yield self.diagnose(
            headline=f"the Trainer removes the column `{seen.column}`, which the script's own code asks for",
            confidence="proven",
            step=seen.step,
            where=seen.told or seen.asked,
            label="`remove_unused_columns` is True by default" if seen.told else "is never given one",
            also=(asked,) if seen.told else (),
            culprit=Culprit(phase="data", field=seen.column, op="remove_unused_columns"),
            evidence=(
                f"the samples have a column `{seen.column}`, and the model's `forward` has no parameter of this name",
            ),
            remedies=(
                Remedy(title="set `remove_unused_columns=False` in the `TrainingArguments`"),
                Remedy(title=f"and take `{seen.column}` out of the batch before the model is called"),
            ),
        )
