"""The validation loss has been climbing for epochs while the training loss still falls."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import EarlyStop, MetricPoint, PlannedEpochs, Run, StateLoaded
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom

_LEAST_POINTS = 8
_LEAST_AFTER = 4
_LEAST_RISE = 1.5
_LOUD_RISE = 3.0
_LEAST_ALIKE = 0.25
_MOST_LEFT = 0.6


class OverfittedModel(Rule):
    """The best validation loss lies epochs back, and the last one is half as much again or more."""

    code = "TRN021"
    name = "overfitted-model"
    severity = "warning"
    symptoms = (Symptom.SCORE_LOW,)
    tell_apart = "the validation loss rises for epochs in which the training loss goes on falling"
    needs = (MetricPoint,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        train, held_out = _series(run, "train"), _series(run, "validation") or _series(run, "test")
        if run.first(EarlyStop) is not None or _best_was_restored(run) or len(held_out) < _LEAST_POINTS:
            return
        at = min(range(len(held_out)), key=lambda i: held_out[i].value)
        best, last, after = held_out[at], held_out[-1], held_out[at + 1 :]
        if best.value <= 0 or len(after) < _LEAST_AFTER or last.value < _LEAST_RISE * best.value:
            return
        then, now = _near(train, best.epoch), train[-1] if train else None
        if then is None or best.value < _LEAST_ALIKE * then.value:
            return  # not the same quantity: a part of the loss, or another one
        still_rising = all(point.value > 1.1 * best.value for point in after[-_LEAST_AFTER:])
        if now is None or now.value > _MOST_LEFT * then.value or not still_rising:
            return
        planned = run.last(PlannedEpochs)
        yield self.diagnose(
            headline=f"`{last.name}` rises since epoch {best.epoch:g}: from {best.value:.3g} to {last.value:.3g}",
            confidence="proven",
            severity="warning" if last.value >= _LOUD_RISE * best.value else "hint",
            step=best.step,
            where=planned.where if planned else None,
            label="goes on long after the best epoch",
            culprit=Culprit(phase="forward", op=last.name),
            evidence=(
                f"`{now.name}` fell from {then.value:.3g} to {now.value:.3g} in the same time: the model learns the "
                f"training samples by heart",
                f"the weights at the end are those of epoch {last.epoch:g}; none were put back",
            ),
            remedies=(
                Remedy(title=f"stop early and keep the weights of the best epoch ({best.epoch:g}): `EarlyStopping`"),
                Remedy(title="or use more data, augmentation, weight decay, dropout, a smaller model"),
            ),
        )


def _series(run: Run, split: str) -> list[MetricPoint]:
    """The loss on one part of the data; the longest series where there are several."""
    by_name: dict[tuple[str, str], list[MetricPoint]] = {}
    for point in run.all(MetricPoint):
        if point.split == split and point.better == "lower":
            by_name.setdefault((point.name, point.source), []).append(point)
    return max(by_name.values(), key=len, default=[])


def _near(points: list[MetricPoint], epoch: float) -> MetricPoint | None:
    return min(points, key=lambda p: abs(p.epoch - epoch), default=None)


def _best_was_restored(run: Run) -> bool:
    """Weights were loaded after the last update or so: the best ones, one would think."""
    return any((loaded.step or 0) >= 0.9 * run.info.steps > 0 for loaded in run.all(StateLoaded))
