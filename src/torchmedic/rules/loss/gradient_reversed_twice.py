"""A layer that is to reverse the gradient multiplies it by a negative number as well: it passes with its own sign."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import ReversedTwice, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom

_LEAST_LOOKS = 2


class GradientReversedTwice(Rule):
    """`backward` negates, and yet what leaves it points the same way as what came in, at every look."""

    code = "LOS076"
    name = "gradient-reversed-twice"
    symptoms = (Symptom.SCORE_LOW,)
    tell_apart = "the loss of the adversary falls towards 0, because the features are trained to help it"
    needs = (ReversedTwice,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(ReversedTwice):
            if len(seen.factors) < _LEAST_LOOKS or min(seen.factors) <= 0:
                continue
            negative = {name: value for name, value in seen.settings.items() if value < 0}
            name, value = next(iter(negative.items()), ("", 0.0))
            yield self.diagnose(
                headline=f"`{seen.function}` reverses the gradient twice: `{name}` is {value:.3g}"
                if name
                else f"`{seen.function}` reverses the gradient twice, which is not at all",
                confidence="proven",
                step=seen.step,
                where=seen.where,
                label=f"negates, and `{name}` is negative" if name else "negates what is negated already",
                culprit=Culprit(op=seen.function, tensor=name or None, phase="backward"),
                evidence=(
                    f"at {len(seen.factors)} looks the gradient left it multiplied by a number above 0, at last by "
                    f"{seen.factors[-1]:+.3g}",
                    "what lies before it is trained to help the part behind it, and not to deceive it",
                ),
                remedies=(
                    Remedy(title=f"make `{name}` positive: the function negates by itself")
                    if name
                    else Remedy(title="negate once, in `backward`"),
                ),
            )
