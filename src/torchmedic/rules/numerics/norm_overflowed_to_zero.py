"""A norm that overflows in float16: what is divided by it is 0, and no NaN ever says so."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, SwallowedOverflow
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.numerics._reading import fitted, short
from torchmedic.rules.wiring._telling import also

_LEAST_SHARE = 0.5
_LEAST_LOOKS = 2


class NormOverflowedToZero(Rule):
    """Values are divided by a number made of them that float16 cannot hold."""

    code = "NUM062"
    name = "norm-overflowed-to-zero"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW, Symptom.WEIGHTS_STILL)
    tell_apart = "a sum of squares is infinite in float16, and what is divided by it 0; in float32 it trains"
    needs = (SwallowedOverflow,)
    folds = ("TRN", "answers-unrelated-to-targets", "majority-class-answered")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        looks: dict[str, list[SwallowedOverflow]] = {}
        for seen in run.all(SwallowedOverflow):
            looks.setdefault(str(seen.divided), []).append(seen)
        for every in looks.values():
            bad = [seen for seen in every if seen.share >= _LEAST_SHARE]
            if len(bad) >= _LEAST_LOOKS and 2 * len(bad) > len(every):
                yield self._told(bad)
                return

    def _told(self, bad: list[SwallowedOverflow]) -> Diagnosis:
        first = bad[0]
        share = sum(seen.share for seen in bad) / len(bad)
        steps = ", ".join(str(seen.step) for seen in bad)
        return self.diagnose(
            headline=fitted(
                f"`{short(first.quotient)}` is 0: `{short(first.expression)}` does not fit float16",
                f"values are divided by infinity, and 0: `{first.op}` does not fit float16",
            ),
            confidence="proven",
            step=first.step,
            where=first.where,
            mark=first.expression,
            label="float16 ends at 65504",
            also=also((first.divided, "divided by infinity: 0"), where=first.where),
            culprit=Culprit(op=first.op, phase="forward", tensor=first.expression or None),
            evidence=(
                f"`{first.op}` was given finite numbers up to {first.largest:.4g} and made infinite ones",
                f"on average {share:.0%} of what was not 0 became 0, at steps {steps}; no gradient passes there",
            ),
            remedies=(
                Remedy(title="compute this part in float32: `.float()` on its input, before the squares are taken"),
                Remedy(title="or divide by the largest value first, or take means in place of sums before it"),
            ),
        )
