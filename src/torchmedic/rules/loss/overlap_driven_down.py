"""A Dice or IoU score that is minimised: the answers are driven out of the masks that they should fill."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from torchmedic.facts import OverlapMoved, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom

_LEAST_LOOKS = 3
_LITTLE = 0.02


class OverlapDrivenDown(Rule):
    """The gradient lowers answers inside the mask and raises them outside, in every step looked at."""

    code = "LOS090"
    name = "overlap-driven-down"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_ZERO)
    tell_apart = "the loss falls, and answers inside the masks fall with it"
    needs = (OverlapMoved,)
    folds = ("TRN", "majority-class-answered", "answers-unrelated-to-targets")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        groups: dict[str, list[OverlapMoved]] = defaultdict(list)
        for seen in run.all(OverlapMoved):
            groups[f"{seen.where.file}:{seen.where.line}"].append(seen)
        for group in groups.values():
            if len({seen.step for seen in group}) >= _LEAST_LOOKS and _is_driven_down(group):
                yield self._diagnosis(group[0], group[-1])

    def _diagnosis(self, first: OverlapMoved, last: OverlapMoved) -> Diagnosis:
        return self.diagnose(
            headline=f"`{last.function}` gives a score, and it is minimised: answers are driven out of the mask",
            confidence="proven",
            step=last.step,
            where=last.where,
            label="high where answers and masks overlap",
            culprit=Culprit(op="div", phase="forward", tensor=last.expression),
            evidence=(
                f"at every step looked at, the gradient lowers `{last.product}` inside the mask and raises the answers "
                f"outside it",
                f"from step {first.step} to {last.step} the mean answer inside the masks went from "
                f"{first.answer_inside:.3g} to {last.answer_inside:.3g}; outside it is {last.answer_outside:.3g}",
            ),
            remedies=(Remedy(title=f"turn it round: return `1 - {last.expression}`"),),
        )


def _is_driven_down(group: list[OverlapMoved]) -> bool:
    """In all steps, and with success: a second term of the loss may do more good than this one does harm."""
    against = all(seen.inside > 0 > seen.outside for seen in group)
    gaps = [seen.answer_inside - seen.answer_outside for seen in group]
    return against and gaps[-1] <= max(gaps[0], 0.0) + _LITTLE
