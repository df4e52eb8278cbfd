"""Every step draws the same random numbers, because the seed is set anew in each of them."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import RepeatedDraw, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom


class SameRandomNumbersEveryStep(Rule):
    """Noise, time steps or masks that never change are learned by heart."""

    code = "DAT076"
    name = "same-random-numbers-every-step"
    symptoms = (Symptom.SCORE_LOW, Symptom.SCORE_TOO_GOOD)
    tell_apart = "a line that draws random numbers for the batch draws the same ones in every step"
    needs = (RepeatedDraw,)
    folds = ("overfitted-model",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        by_seed: dict[object, list[RepeatedDraw]] = {}
        for seen in run.all(RepeatedDraw):
            by_seed.setdefault(seen.seeded or seen.where, []).append(seen)
        for group in by_seed.values():
            yield self._diagnosis(max(group, key=lambda seen: len(seen.steps)), group)

    def _diagnosis(self, seen: RepeatedDraw, group: list[RepeatedDraw]) -> Diagnosis:
        where = seen.seeded or seen.where
        others = list(dict.fromkeys(f"`{other.expression}`" for other in group if other.where != seen.where))
        too = (f"so it is with {', '.join(others[:4])} too",) if others else ()
        return self.diagnose(
            headline=f"`{seen.op}` draws the same random numbers in every step: {list(seen.shape)}",
            confidence="proven",
            step=seen.step,
            where=where,
            mark=seen.seeded_text or seen.expression,
            label="sets the seed anew in every step" if seen.seeded else "the same numbers each time",
            also=(Also(location=seen.where, why="draws the same numbers each time"),) if where != seen.where else (),
            culprit=Culprit(op=seen.op, phase="forward", tensor=seen.expression),
            evidence=(
                f"`{seen.expression}` gave the same numbers in all {len(seen.steps)} steps looked at "
                f"({', '.join(map(str, seen.steps[:8]))})",
                *too,
            ),
            remedies=(
                Remedy(title="set the seed once, before the loop, and let the generator run on"),
                Remedy(title="or keep the seeded generator for the evaluation, and draw without it in training"),
            ),
        )
