"""Tokenized texts of different lengths that were to become one tensor."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._frameworks import in_library, written_call
from torchmedic.rules.errors._reading import also, crash_in, said, user_line


class UnpaddedTexts(Rule):
    """No padding was asked for, by the tokenizer or by the collator."""

    code = "ERR091"
    name = "unpadded-texts"
    symptoms = (Symptom.CRASH,)
    tell_apart = "Transformers could not make a tensor of sequences of unequal lengths"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        field = said(crash, r"unable to create tensor.*?features \(`(\w+)` in this case\)")
        lengths = said(crash, r"expected sequence of length (\d+) at dim \d+ \(got (\d+)\)")
        if crash is None or (field is None and not (lengths and in_library(crash, "transformers"))):
            return
        trainer = written_call(run, crash, "Trainer", "Seq2SeqTrainer") if field is None else None
        at = user_line(crash)
        where = trainer.place if trainer is not None else at
        told = f": {lengths.group(1)} and {lengths.group(2)}" if lengths else ""
        name = field.group(1) if field is not None else "input_ids"
        yield self.diagnose(
            headline=f"the `{name}` of a batch have different lengths{told}, and nothing pads them",
            confidence="proven",
            where=where,
            label="no padding asked for here",
            also=also((at, "trained here"), but=where),
            culprit=Culprit(field=name, phase="data"),
            remedies=_cures(in_trainer=trainer is not None),
        )


def _cures(in_trainer: bool) -> tuple[Remedy, ...]:
    collator = Remedy(
        title="pass `data_collator=DataCollatorWithPadding(tokenizer)`: it pads each batch to its longest"
    )
    tokenizer = Remedy(title="call the tokenizer with `padding=True, truncation=True`")
    labels = Remedy(title="where `labels` are sequences too, use `DataCollatorForTokenClassification` or `…ForSeq2Seq`")
    return (collator, tokenizer, labels) if in_trainer else (tokenizer, collator)
