"""A Trainer that dropped every field of the samples, because `forward` has no parameter of those names."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._frameworks import written_call
from torchmedic.rules.errors._reading import also, crash_in, said, user_line


class ColumnsRemovedByTrainer(Rule):
    """With `remove_unused_columns=True`, the default, unknown fields do not reach the model."""

    code = "ERR088"
    name = "columns-removed-by-trainer"
    symptoms = (Symptom.CRASH,)
    tell_apart = "Transformers says that the batch is empty or that no column matches the signature of `forward`"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        found = said(
            crash,
            r"batch received was empty.*?keys expected by the model: (.+?)\.?$",
            r"No columns in the dataset match the model's forward method signature: \((.+?)\)",
        )
        if crash is None or found is None:
            return
        expected = [n for n in dict.fromkeys(found.group(1).replace(" ", "").split(",")) if n != "kwargs"]
        trainer = written_call(run, crash, "Trainer", "Seq2SeqTrainer")
        where = trainer.line_of("train_dataset", run) if trainer is not None else user_line(crash)
        listed = ", ".join(f"`{name}`" for name in expected[:6])
        yield self.diagnose(
            headline="no field of the samples has a name that the model's `forward` knows",
            confidence="proven",
            where=where,
            label="all of its fields were dropped",
            also=also((user_line(crash), "trained here"), but=where),
            culprit=Culprit(phase="data"),
            evidence=(
                f"`forward` knows {listed}",
                "`remove_unused_columns=True`, the default, drops every other field before the collator sees it",
            ),
            remedies=(
                Remedy(title=f"give the fields names of `forward`: {listed}"),
                Remedy(title="or set `remove_unused_columns=False` when the collator needs the raw fields"),
            ),
        )
