"""A callback waits for a score to fall, so that every improvement counts against the training."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import BestKept, EarlyStop, MetricPoint, Run
from torchmedic.facts.metrics import better_of
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom

_WAY = {"max": "higher", "min": "lower"}


class MonitorModeInverted(Rule):
    """The name of what is watched says which way is better, and `mode` says the other."""

    code = "WIR084"
    name = "monitor-mode-inverted"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_FLAT)
    tell_apart = "the training is stopped, or the weights are kept, at the worst value of what is watched"
    needs = (MetricPoint,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        watching: list[EarlyStop | BestKept] = [*run.all(EarlyStop), *run.all(BestKept)]
        for seen in watching:
            better = better_of(seen.monitor)
            values = [point.value for point in run.all(MetricPoint) if point.name == seen.monitor]
            if not better or seen.mode not in _WAY or _WAY[seen.mode] == better or len(values) < 2:
                continue
            sign = 1 if better == "higher" else -1
            if sign * values[-1] <= sign * values[0]:
                continue
            callback = "EarlyStopping" if isinstance(seen, EarlyStop) else seen.callback
            yield self.diagnose(
                headline=f"`{callback}` with mode='{seen.mode}' watches `{seen.monitor}`, better when {better}",
                confidence="proven",
                step=seen.step,
                where=seen.where,
                label=f"`mode` is '{seen.mode}'",
                culprit=Culprit(op=callback, tensor=seen.monitor),
                evidence=(
                    f"`{seen.monitor}` went from {values[0]:.3g} to {values[-1]:.3g}",
                    *(_ended(seen) if isinstance(seen, EarlyStop) else _kept(seen)),
                ),
                remedies=(Remedy(title=f"build it with `mode='{'max' if better == 'higher' else 'min'}'`"),),
            )


def _ended(seen: EarlyStop) -> Iterator[str]:
    yield f"the training was ended after {seen.epochs} epochs" if seen.stopped else f"it waited {seen.waited} epochs"


def _kept(seen: BestKept) -> Iterator[str]:
    if seen.best is not None:
        yield f"the weights of {seen.best:.3g} were kept for the best"
