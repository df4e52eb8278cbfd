"""A Trainer whose batches reach the model without labels, so that it returns no loss."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._frameworks import written_call
from torchmedic.rules.errors._reading import also, crash_in, said, user_line


class BatchWithoutLabels(Rule):
    """Models of Transformers compute a loss only when they are given `labels`."""

    code = "ERR086"
    name = "batch-without-labels"
    symptoms = (Symptom.CRASH,)
    tell_apart = "the model did not return a loss; the inputs it received hold no `labels`"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        found = said(crash, r"did not return a loss from the inputs, only .*? keys: (.+?)\..*?it received are (.+?)\.")
        if crash is None or found is None:
            return
        returned, received = found.group(1), found.group(2)
        trainer = written_call(run, crash, "Trainer", "Seq2SeqTrainer")
        where = trainer.line_of("train_dataset", run) if trainer is not None else user_line(crash)
        names = ", ".join(f"`{name}`" for name in received.split(","))
        yield self.diagnose(
            headline=f"the model got {names} and no `labels`, so it returned no loss",
            confidence="proven",
            where=where,
            label="its samples have no `labels` when they reach the model",
            also=also((user_line(crash), "trained here"), but=where),
            culprit=Culprit(field="labels", phase="data"),
            evidence=(
                f"the model returned {', '.join(f'`{name}`' for name in returned.split(','))} only",
                "fields that `forward` has no parameter for are dropped by the Trainer (`remove_unused_columns`)",
            ),
            remedies=(
                Remedy(title="name the target field `labels` in every sample (`rename_column` for a dataset)"),
                Remedy(title="for language models use `DataCollatorForLanguageModeling`, which makes `labels`"),
                Remedy(title="or override `compute_loss` in a subclass of the Trainer"),
            ),
        )
