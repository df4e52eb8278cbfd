"""Pixels that are divided by 255 two times: what is left is next to 0."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import InputSeen, Run, ScaledTwice
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also

_LEAST_STEPS = 2


class PixelsScaledTwice(Rule):
    """All inputs of the first layer are bytes divided by 255 · 255."""

    code = "DAT171"
    name = "pixels-scaled-twice"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "the largest input is 1/255 or less, and all of them are whole multiples of 1/65025"
    needs = (ScaledTwice, InputSeen)
    folds = ("LOS", "TRN")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        seen = list(run.all(ScaledTwice))
        if len(seen) < _LEAST_STEPS or len({fact.step for fact in run.all(InputSeen)}) > len({f.step for f in seen}):
            return
        if seen[0].is_normalised:
            yield self._normalised(seen)
            return
        first, high = seen[0], max(fact.high for fact in seen)
        yield self.diagnose(
            headline=f"the pixels are divided by 255 two times: the model is given 0 to {high:.2g}",
            confidence="likely",
            step=first.step,
            where=first.where,
            mark=first.text,
            label="divides what is scaled already",
            also=also((first.before, "it is scaled here too"), where=first.where),
            culprit=Culprit(op="division", phase="data", tensor=first.text),
            evidence=(
                f"in all {len(seen)} steps looked at, what `{first.layer}` is given are whole multiples of 1/65025, "
                f"which is 1/(255 · 255), of which {first.levels} different ones",
                f"`{first.text}` and `{first.before_text}` both scale",
            ),
            remedies=(Remedy(title=f"take one of the two out: `{first.text}` or `{first.before_text}`"),),
        )

    def _normalised(self, seen: list[ScaledTwice]) -> Diagnosis:
        first = seen[0]
        low, high = min(fact.low for fact in seen), max(fact.high for fact in seen)
        return self.diagnose(
            headline=f"the pixels are divided by 255 two times: the model is given {low:.3f} to {high:.3f}",
            confidence="likely",
            step=first.step,
            where=first.where,
            mark=first.text,
            label="scales to 0 to 1",
            also=also((first.before, "takes them for bytes, and scales again"), where=first.where),
            culprit=Culprit(op="division", phase="data", tensor=first.text),
            evidence=(
                f"in all {len(seen)} steps looked at, what `{first.layer}` is given hardly varies: in each channel the "
                f"pixels are much nearer to each other than to 0",
                f"`{first.text}` and `{first.before_text}` both scale",
            ),
            remedies=(
                Remedy(title=f"take the division out: `{first.text}`"),
                Remedy(title="or tell the normalisation that pixels reach up to 1: `max_pixel_value=1`"),
            ),
        )
