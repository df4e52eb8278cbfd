"""Tokenized texts of different lengths that were to become one tensor."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._frameworks import Written, in_library, written_call
from torchmedic.rules.errors._reading import also, crash_in, said, user_line
from torchmedic.rules.errors._syntax import Code

_LENGTHS = r"expected sequence of length (\d+) at dim \d+ \(got (\d+)\)"


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
        lengths = said(crash, _LENGTHS) or said(crash.cause if crash is not None else None, _LENGTHS)
        if crash is None or (field is None and not (lengths and in_library(crash, "transformers"))):
            return
        collator, trainer = _collated(run, crash) if field is None or _in_collator(crash) else (None, None)
        at = user_line(crash)
        chosen = collator or trainer
        where = chosen.place if chosen is not None else at
        told = f": {lengths.group(1)} and {lengths.group(2)}" if lengths else ""
        name = field.group(1) if field is not None else "input_ids"
        yield self.diagnose(
            headline=f"the `{name}` of a batch have different lengths{told}, and nothing pads them",
            confidence="proven",
            where=where,
            label=f"pads no `{name}`" if collator is not None else "no padding asked for here",
            also=also((at, "trained here"), but=where),
            culprit=Culprit(field=name, phase="data"),
            remedies=_label_cures(run) if name == "labels" else _cures(in_trainer=trainer is not None),
        )


def _in_collator(crash: Crash) -> bool:
    """Whether the batch was put together by a collator of Transformers', not by a call of the tokenizer."""
    return any("data_collator" in f.location.file for f in crash.frames)


def _collated(run: Run, crash: Crash) -> tuple[Written | None, Written | None]:
    """The collator that the script makes, and the Trainer."""
    return (
        written_call(run, crash, "DataCollatorWithPadding"),
        written_call(run, crash, "Trainer", "Seq2SeqTrainer"),
    )


def _label_cures(run: Run) -> tuple[Remedy, ...]:
    """What pads labels too, by the kind of model that the script names."""
    texts = "\n".join(Code.of(run).texts.values())
    tokens = Remedy(
        title="pass `data_collator=DataCollatorForTokenClassification(tokenizer)`: it pads `labels` too, with -100"
    )
    written = Remedy(
        title="pass `data_collator=DataCollatorForSeq2Seq(tokenizer, model=model)`: it pads `labels` too, with -100"
    )
    if "TokenClassification" in texts:
        return (tokens,)
    if re.search(r"Seq2Seq|ConditionalGeneration|ForCausalLM", texts):
        return (written,)
    return (
        Remedy(title="use a collator that pads `labels` too: `DataCollatorWithPadding` leaves them as they are"),
        Remedy(title="with one label per token: `DataCollatorForTokenClassification(tokenizer)`"),
        Remedy(title="with a text as the answer: `DataCollatorForSeq2Seq(tokenizer, model=model)`"),
    )


def _cures(in_trainer: bool) -> tuple[Remedy, ...]:
    collator = Remedy(
        title="pass `data_collator=DataCollatorWithPadding(tokenizer)`: it pads each batch to its longest"
    )
    tokenizer = Remedy(title="call the tokenizer with `padding=True, truncation=True`")
    labels = Remedy(title="where `labels` are sequences too, use `DataCollatorForTokenClassification` or `…ForSeq2Seq`")
    return (collator, tokenizer, labels) if in_trainer else (tokenizer, collator)
