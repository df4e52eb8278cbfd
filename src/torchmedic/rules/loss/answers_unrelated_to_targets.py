"""After hundreds of steps the answers fit their own targets no better than those of other samples."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LossPairing, Run, TrainingCourse
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.loss._pairing import LATE, by_line, gain
from torchmedic.rules.training._course import constant_answer, ending, is_simple, learned_nothing

_LEAST_LATE = 2
_MOST_GAIN = 0.01
_LEAST_STEPS = 300
_LEAST_MOVED = 0.02


class AnswersUnrelatedToTargets(Rule):
    """The shuffled-input test: a loss that stays the same when every target meets the answer for another sample."""

    code = "LOS032"
    name = "answers-unrelated-to-targets"
    severity = "warning"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "weights move, yet the loss does not care which answer meets which target"
    needs = (LossPairing, TrainingCourse)
    fallback = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        course = run.first(TrainingCourse)
        groups = list(by_line(run))
        if course is None or len(groups) != 1 or not _has_trained(course) or not learned_nothing(run, course, first=10):
            return
        late = [p for p in groups[0] if (p.step or 0) >= LATE and p.varied]
        level, end = constant_answer(run), ending(course)
        if len(late) < _LEAST_LATE or gain(late) > _MOST_GAIN or level is None or end is None or end < 0.97 * level:
            return
        last = late[-1]
        yield self.diagnose(
            headline=f"after {course.steps} steps the answers have nothing to do with the targets",
            confidence="likely",
            step=last.step,
            where=last.where,
            label=f"the same loss when `{last.names[1]}` belongs to other samples",
            culprit=Culprit(op=last.function, phase="forward", tensor=last.names[0]),
            evidence=(
                f"step {last.step}: loss {last.loss:.4g}; with the answers for other samples {last.others:.4g}",
                f"the loss ends at {end:.4g}; always the same answer costs {level:.4g}",
                f"the weights did move, by {course.moved:.0%} of their size" if course.moved else "the weights moved",
            ),
            remedies=(
                Remedy(title="print a few inputs beside their targets: they are probably in different orders"),
                Remedy(title="or the inputs do not hold what the targets ask for"),
            ),
        )


def _has_trained(course: TrainingCourse) -> bool:
    moved = course.moved is not None and course.moved > _LEAST_MOVED
    return is_simple(course) and course.steps >= _LEAST_STEPS and moved
