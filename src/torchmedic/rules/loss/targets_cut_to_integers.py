"""Numbers with fractions that were cast to integers before a distance was measured to them."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LossPairing, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.loss._calls import seen as times_seen
from torchmedic.rules.loss._pairing import by_line

_DISTANCES = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
_LEAST = 3
_LEAST_SHARE = 0.2


class TargetsCutToIntegers(Rule):
    """A cast on the way to a distance loss took the fractions off the targets, in every step looked at."""

    code = "LOS031"
    name = "targets-cut-to-integers"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_FLAT)
    tell_apart = "targets of a regression are cast to an integer type although they have fractions"
    needs = (LossPairing,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for pairings in by_line(run):
            first = pairings[0]
            cut = min(p.fractions for p in pairings)
            if first.function not in _DISTANCES or len(pairings) < _LEAST or cut < _LEAST_SHARE:
                continue
            yield self.diagnose(
                headline=f"`{first.rounded_text}` cuts the fractions off {first.fractions:.0%} of the targets",
                confidence="proven",
                step=first.step,
                where=first.rounded,
                label="a cast to whole numbers",
                culprit=Culprit(op=first.function, phase="data", tensor=first.names[1]),
                evidence=(f"so it was in {times_seen(len(pairings))}; `{first.function}` measures to what is left",),
                remedies=(Remedy(title="leave the targets as floats"),),
            )
