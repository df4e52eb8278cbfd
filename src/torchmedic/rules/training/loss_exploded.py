"""A loss that left its first values behind by orders of magnitude, stayed finite, and never came back."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import (
    Amplification,
    ClippingSeen,
    GradientCycles,
    Location,
    LossCall,
    OptimizerSeen,
    Run,
    TrainingCourse,
)
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.training._course import ending, is_simple, rate_line
from torchmedic.rules.wiring._telling import also

_LEAST_STEPS = 20
_ABOVE_START = 1e3
_ABOVE_CONSTANT = 1e3
# Where no loss function tells what a constant answer costs, only the loss itself can.
_ABOVE_START_ALONE = 1e6
_LARGE = 1e3
_AGAIN_AND_AGAIN = 10  # calls of one line in one pass
_TOLD_BY_RATE = 0.2  # of the weights, by one of the first updates: that is another rule


class LossExploded(Rule):
    """The last losses are a thousand times those of the start, and of a constant answer."""

    code = "TRN060"
    name = "loss-exploded"
    symptoms = (Symptom.LOSS_NOISY, Symptom.SCORE_LOW)
    tell_apart = "the loss jumped by orders of magnitude within a few steps, is finite, and never came back"
    needs = (TrainingCourse,)
    folds = ("TRN", "LOS")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for course in run.all(TrainingCourse):
            recurrent = _recurrent(run)
            early = [r for r, s in zip(course.ratios, course.ratio_steps, strict=True) if s < 5]
            if course.first_lr is None or not _is_exploded(run, course):
                continue
            if not recurrent and max(early, default=0.0) >= _TOLD_BY_RATE:
                continue
            cycles = next((seen for seen in run.all(GradientCycles) if seen.optimizer == course.optimizer), None)
            clipped = run.first(ClippingSeen) is not None
            by_time = bool(recurrent) and not clipped and cycles is not None and cycles.backward is not None
            where = cycles.backward if by_time and cycles is not None else rate_line(course)
            yield self._tell(run, course, where, recurrent if by_time else "", cycles)

    def _tell(
        self, run: Run, course: TrainingCourse, where: Location | None, recurrent: str, cycles: GradientCycles | None
    ) -> Diagnosis:
        jump = _first_jump(course)
        start, peak = f"{course.head[0]:.3g}", f"{course.highest or 0.0:.3g}"
        rate = f"{course.first_lr:g}"
        return self.diagnose(
            headline=f"the loss exploded from {start} to {peak}, and nothing clips the gradients"
            if recurrent
            else f"the loss exploded from {start} to {peak} under lr={rate}",
            confidence="likely",
            step=jump,
            where=where,
            label=f"the gradients of all steps in time meet in `{recurrent}` here"
            if recurrent
            else f"`{course.optimizer}` with lr={rate}",
            also=also((course.built, f"`{course.optimizer}` with lr={rate} takes them as they are"), where=where),
            culprit=Culprit(phase="backward" if recurrent else "optimizer", op=course.optimizer, parameter=recurrent),
            evidence=tuple(_evidence(run, course, jump, cycles)),
            remedies=(
                Remedy(title="clip before the step: `nn.utils.clip_grad_norm_(model.parameters(), 1.0)`"),
                Remedy(title=f"or lower the rate of `{course.optimizer}` tenfold, and tenfold again if need be"),
            )[:: 1 if recurrent else -1],
        )


def _is_exploded(run: Run, course: TrainingCourse) -> bool:
    end = ending(course)
    if not is_simple(course) or end is None or course.steps < _LEAST_STEPS or course.head[0] <= 0:
        return False
    calls = [call for call in run.all(LossCall) if call.baseline and call.loss is not None]
    if not calls:
        return end >= _LARGE and end >= _ABOVE_START_ALONE * course.head[0]
    last = calls[-1]
    # Targets that grow themselves, as those of a value function do, are met by their own constant answer.
    far = (last.loss or 0.0) >= _ABOVE_CONSTANT * (last.baseline or 0.0)
    return far and end >= _ABOVE_START * course.head[0]


def _recurrent(run: Run) -> str:
    """A weight that is multiplied by at every step of a sequence; empty where none is known."""
    names = (name for seen in run.all(OptimizerSeen) for name in seen.names)
    named = next((name for name in names if "weight_hh" in name), "")
    seen = run.last(Amplification)
    return named or (seen.weight if seen is not None and seen.calls >= _AGAIN_AND_AGAIN else "")


def _first_jump(course: TrainingCourse) -> int | None:
    high = (step for step, loss in enumerate(course.head, start=1) if loss >= _ABOVE_START * course.head[0])
    return next(high, course.step)


def _evidence(run: Run, course: TrainingCourse, jump: int | None, cycles: GradientCycles | None) -> Iterator[str]:
    end = ending(course) or 0.0
    yield f"it was {course.head[0]:.3g} in step 1, a thousand times that by step {jump}, and is {end:.3g} at the end"
    call = next((call for call in reversed(list(run.all(LossCall))) if call.baseline), None)
    if call is not None:
        yield f"always the same answer would cost {call.baseline:.3g}"
    if cycles is not None and cycles.norm_first and cycles.norm_last and cycles.norm_last > cycles.norm_first:
        yield f"the norm of the gradient went from {cycles.norm_first:.3g} to {cycles.norm_last:.3g}"
