"""Labels kept in a type that cannot hold as many classes as the model has outputs: 256 became 0."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LossCall, Run, SmallField
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom

_CLASS_LOSSES = ("cross_entropy", "nll_loss")


class LabelsBeyondTheirType(Rule):
    """A field of 8 bits that is used up to its end, and a model with more outputs than it can name."""

    code = "DAT145"
    name = "labels-beyond-their-type"
    severity = "warning"
    symptoms = (Symptom.SCORE_LOW,)
    tell_apart = "labels are kept in uint8 or int8, and the model has more outputs than that type has numbers"
    needs = (SmallField, LossCall)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(SmallField):
            calls = [call for call in run.all(LossCall) if call.function in _CLASS_LOSSES]
            where = seen.cast or seen.made
            if not calls or where is None or not all(_is_short_of(call, seen) for call in calls):
                continue
            outputs = calls[0].given.shape[calls[0].class_dim]
            used_at = calls[0].where
            yield self.diagnose(
                headline=f"`{seen.name}` is {seen.dtype}, up to {seen.highest}, and the model has {outputs} outputs",
                confidence="likely",
                step=seen.step,
                where=where,
                label=f"{seen.dtype} is chosen here" if seen.cast is not None else "it is made here",
                also=(Also(location=used_at, why=f"{outputs} scores meet these labels"),) if used_at else (),
                culprit=Culprit(field=seen.name, phase="data", tensor=seen.name),
                evidence=(
                    f"its {seen.rows} labels take {seen.distinct} of {seen.highest + 1} values, up to {seen.largest}",
                    f"a label of {seen.highest + 1} and more wraps around without a word: "
                    "it is counted as the label of another class",
                ),
                remedies=(Remedy(title="keep labels as int64 (`np.int64`, `torch.long`), or as int16 to save memory"),),
            )


def _is_short_of(call: LossCall, field: SmallField) -> bool:
    """Whether the loss has classes that the type cannot name, and was given none of them."""
    if call.class_dim >= len(call.given.shape) or len(call.target.shape) != 1:
        return False
    largest = call.target.maximum
    return call.given.shape[call.class_dim] > field.highest + 1 and largest is not None and largest <= field.highest
