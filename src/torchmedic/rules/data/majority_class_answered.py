"""A classifier of rare cases that names the common class for every sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from torchmedic.facts import LossCall, LossPairing, Run, TrainingCourse
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.loss._pairing import LATE, by_line, gain
from torchmedic.rules.training._course import is_simple

_LEAST_LATE = 2
_LEAST_SHARE = 0.8
_LEAST_STEPS = 200
_MOST_GAIN = 0.02


class MajorityClassAnswered(Rule):
    """Late in the run all scores of a batch name one class, which most labels have too."""

    code = "DAT053"
    name = "majority-class-answered"
    severity = "warning"
    symptoms = (Symptom.SCORE_LOW, Symptom.SCORE_TOO_GOOD)
    tell_apart = "labels are mostly one class, and the model answers it for every sample"
    needs = (LossPairing, LossCall, TrainingCourse)
    folds = ("answers-unrelated-to-targets",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        course = run.first(TrainingCourse)
        if course is None or not is_simple(course) or course.steps < _LEAST_STEPS:
            return
        for pairings in by_line(run):
            late = [p for p in pairings if (p.step or 0) >= LATE and p.answers is not None]
            labels = _labels(run, pairings[0])
            common, number = labels.most_common(1)[0] if labels else ("", 0)
            share = number / max(1, labels.total())
            if len(late) < _LEAST_LATE or any(p.answers != 1 for p in late) or share < _LEAST_SHARE or len(labels) < 2:
                continue
            # Small chances told apart well, as of a click, may all lie below one half.
            if gain(late) > _MOST_GAIN:
                continue
            last = late[-1]
            yield self.diagnose(
                headline=f"the model answers one class for all samples, as {share:.0%} of the labels do",
                confidence="likely",
                step=last.step,
                where=last.where,
                label=f"`{last.names[1]}` is {common} in {share:.0%} of the samples looked at",
                culprit=Culprit(op=last.function, phase="data", tensor=last.names[1]),
                evidence=(
                    f"labels looked at: {', '.join(f'{k}: {v}' for k, v in labels.most_common(6))}",
                    f"an accuracy of {share:.0%} is what this constant answer gets; {last.samples} samples at step "
                    f"{last.step} got the same answer",
                ),
                remedies=(
                    Remedy(title=f"weigh rare classes: `{last.function}(..., weight=...)`, or sample them more often"),
                    Remedy(title="and judge by recall, F1 or the area under the curve instead of accuracy"),
                ),
            )


def _labels(run: Run, pairing: LossPairing) -> Counter[str]:
    counted: Counter[str] = Counter()
    for call in run.all(LossCall):
        if call.where == pairing.where and call.names == pairing.names:
            counted.update(call.counts)
    return counted
