"""Padding tokens that the attention mask does not leave out."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import MaskSeen, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom

_LEAST_STEPS = 2


class PaddingAttended(Rule):
    """Sequences end in padding, and the mask is 1 there."""

    code = "WIR082"
    name = "padding-attended"
    severity = "warning"
    symptoms = (Symptom.SCORE_LOW,)
    tell_apart = "the places of the padding token are 1 in `attention_mask`"
    needs = (MaskSeen,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        found = [seen for seen in run.all(MaskSeen) if seen.how == "attended"]
        if len({seen.step for seen in found}) < _LEAST_STEPS:
            return
        seen = found[0]
        where = seen.made or seen.where
        yield self.diagnose(
            headline=f"`attention_mask` leaves none of the {seen.fillers} padding tokens ({seen.padding}) out",
            confidence="proven",
            step=seen.step,
            where=where,
            label="padding is attended to like words",
            also=(Also(location=seen.where, why="the model is called here"),)
            if seen.where is not None and where != seen.where
            else (),
            culprit=Culprit(op=seen.op, phase="forward", tensor="attention_mask"),
            evidence=(
                f"the {seen.rows} sequences end in runs of token {seen.padding}, the model's padding token, of "
                f"different lengths",
            ),
            remedies=(Remedy(title=f"give the mask `(input_ids != {seen.padding}).long()`"),),
        )
