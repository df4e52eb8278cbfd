"""Labels that are two tokens ahead of the input: somebody shifted them before the model did."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, TokensAhead
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom

_LEAST_SEEN = 2


class LabelsShiftedTwice(Rule):
    """Each position is taught the token after the next one."""

    code = "LOS041"
    name = "labels-shifted-twice"
    symptoms = (Symptom.SCORE_LOW,)
    tell_apart = "the targets of the loss are the input tokens two positions later"
    needs = (TokensAhead,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        found = list(run.all(TokensAhead))
        twice = [seen for seen in found if seen.offset == 2]
        if len(twice) < _LEAST_SEEN or len(twice) != len(found):
            return
        seen = twice[0]
        where = seen.shifted_at or seen.labels_at or seen.where
        yield self.diagnose(
            headline="the targets are the input tokens two positions later, not one",
            confidence="proven",
            step=seen.step,
            where=where,
            label=_label(seen),
            also=(Also(location=seen.where, why="shifted once more in here"),)
            if seen.where is not None and where != seen.where
            else (),
            culprit=Culprit(op="cross_entropy", phase="forward", tensor="labels"),
            evidence=(
                f"in {len(twice)} steps every target at position t was the token at position t + 2",
                "models that take `labels` shift them by one themselves; these had been shifted before",
            ),
            remedies=(
                Remedy(title="give the model the tokens as they are: `labels=input_ids`, padding set to -100"),
                Remedy(title="or take its logits and compute the loss yourself, on labels shifted once"),
            ),
        )


def _label(seen: TokensAhead) -> str:
    if seen.shifted_at is not None:
        return "shifted here"
    return "these labels have been shifted" if seen.labels_at is not None else "shifted again in here"
