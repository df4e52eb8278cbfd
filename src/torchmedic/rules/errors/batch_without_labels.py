"""A Trainer whose batches reach the model without labels, so that it returns no loss."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from torchmedic.facts import Crash, Location, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._frameworks import written_call
from torchmedic.rules.errors._reading import also, crash_in, said, user_line
from torchmedic.rules.errors._syntax import Code


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
        passed = trainer.line_of("train_dataset", run) if trainer is not None else None
        code = Code.of(run)
        sample = _sample_without_labels(code, trainer.argument("train_dataset") if trainer is not None else "")
        other = _left_out(sample, received) if sample is not None else ""
        where = sample.field(other) if sample is not None else passed or user_line(crash)
        names = ", ".join(f"`{name}`" for name in received.split(","))
        yield self.diagnose(
            headline=f"the model got {names} and no `labels`, so it returned no loss",
            confidence="proven",
            where=where,
            label=f"`{other}` is no parameter of `forward`"
            if other
            else "its samples have no `labels` when they reach the model",
            also=also((passed, "the Trainer gets the dataset here"), (user_line(crash), "trained here"), but=where),
            culprit=Culprit(field="labels", phase="data"),
            evidence=(
                f"the model returned {', '.join(f'`{name}`' for name in returned.split(','))} only",
                "fields that `forward` has no parameter for are dropped by the Trainer (`remove_unused_columns`)",
            ),
            remedies=(
                *([Remedy(title=f"name the field `labels` instead of `{other}`")] if other else []),
                Remedy(title="name the target field `labels` in every sample (`rename_column` for a dataset)"),
                Remedy(title="for language models use `DataCollatorForLanguageModeling`, which makes `labels`"),
                Remedy(title="or override `compute_loss` in a subclass of the Trainer"),
            ),
        )


@dataclass(frozen=True)
class _Sample:
    """The line of a dataset's `__getitem__` that puts a sample together, and the lines of its fields."""

    whole: Location
    fields: dict[str, Location]

    def field(self, name: str) -> Location:
        return self.fields.get(name, self.whole)


def _sample_without_labels(code: Code, dataset: str) -> _Sample | None:
    found = code.function("__getitem__", dataset.partition("(")[0].rpartition(".")[2]) if "(" in dataset else None
    for node in ast.walk(found[1]) if found is not None else ():
        keys = [k for k in node.keys if isinstance(k, ast.Constant)] if isinstance(node, ast.Dict) else []
        fields = {str(key.value): code.place(found[0], key) for key in keys} if found is not None else {}
        if found is not None and fields and "labels" not in fields:
            return _Sample(code.place(found[0], node), fields)
    return None


def _left_out(sample: _Sample, received: str) -> str:
    """The one field that did not reach the model."""
    lost = [key for key in sample.fields if key not in [name.strip() for name in received.split(",")]]
    return lost[0] if len(lost) == 1 else ""
