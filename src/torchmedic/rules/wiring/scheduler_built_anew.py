"""A scheduler is built inside the loop over epochs: each one takes a few steps of a schedule made for the whole run."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, SchedulerSeen
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also, counted

_LEAST = 3
_LENGTHS = ("total_steps", "T_max", "total_iters", "step_size", "T_0")
_CUT_SHORT = 0.6
# A function of the step that had hardly changed the rate when the next one began with it.
_HARDLY_FALLEN = 0.7


class SchedulerBuiltAnew(Rule):
    """The same line built one scheduler after the other for one optimizer, and none came near its end."""

    code = "WIR129"
    name = "scheduler-built-anew"
    severity = "warning"
    symptoms = (Symptom.LOSS_NOISY, Symptom.SCORE_LOW, Symptom.LOSS_FLAT)
    tell_apart = "the line that builds the scheduler runs once in every epoch, with the same optimizer"
    needs = (SchedulerSeen,)
    folds = ("TRN", "scheduler-stepped-per-batch", "scheduler-stepped-too-rarely", "scheduler-never-stepped")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        by_line: dict[str, list[SchedulerSeen]] = {}
        for seen in run.all(SchedulerSeen):
            if seen.built is not None and not seen.nested:
                by_line.setdefault(str(seen.built), []).append(seen)
        for same in by_line.values():
            used = [seen for seen in same if seen.steps]
            rebuilt = max(seen.rebuilt for seen in same)
            if rebuilt >= _LEAST - 1 and len(used) >= _LEAST and all(map(_is_cut_short, used)):
                yield self._told(used, rebuilt + 1)

    def _told(self, used: list[SchedulerSeen], built: int) -> Diagnosis:
        last = used[-1]
        longest = max(seen.steps for seen in used)
        length = _length(last)
        reach = f"none gets past step {longest}" + (f" of {length:g}" if length else "")
        return self.diagnose(
            headline=f"`{last.type}` is built {built} times for one optimizer: {reach}",
            confidence="proven" if length else "likely",
            where=last.built,
            label="begins at step 0 each time this line runs",
            also=also((last.stepped, "where it is stepped"), (last.optimizer_built, "the optimizer"), where=last.built),
            culprit=Culprit(op=last.type, phase="optimizer"),
            evidence=(
                f"{counted(built, 'scheduler')} from this line, each stepped {longest} times at most, while the "
                f"optimizer made {counted(last.optimizer_steps, 'step')}",
                f"the last one left the rate at {last.last_lr:.3g}; the schedule begins with {last.first_lr:.3g}",
            ),
            remedies=(Remedy(title=f"build `{last.type}` once, before the loop over epochs, and step it inside"),),
        )


def _length(seen: SchedulerSeen) -> float:
    return next((seen.settings[name] for name in _LENGTHS if seen.settings.get(name)), 0.0)


def _is_cut_short(seen: SchedulerSeen) -> bool:
    if seen.type == "ReduceLROnPlateau":
        return seen.steps <= seen.settings.get("patience", 0.0)
    length = _length(seen)
    if length:
        return seen.steps < _CUT_SHORT * length
    return seen.type == "LambdaLR" and seen.last_lr >= _HARDLY_FALLEN * seen.largest_lr and not seen.turns
