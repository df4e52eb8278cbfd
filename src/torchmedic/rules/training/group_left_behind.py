"""A loop sets the learning rate of the same group in each round: the others keep theirs for good."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import GroupRates, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom


class GroupLeftBehind(Rule):
    """Groups began with one rate; some follow the schedule, some never moved, and a loop does not use its index."""

    code = "TRN051"
    name = "group-left-behind"
    severity = "warning"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_NOISY)
    tell_apart = "one group of the optimizer keeps its rate while the others follow the schedule"
    needs = (GroupRates,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(GroupRates):
            left = [
                index for index, (before, now) in enumerate(zip(seen.first, seen.last, strict=True)) if before == now
            ]
            moved = next(now for before, now in zip(seen.first, seen.last, strict=True) if before != now)
            names = f"`param_groups[{left[0]}]`" if len(left) == 1 else f"{len(left)} groups"
            yield self.diagnose(
                headline=f"{names} kept lr {seen.first[0]:g}: this loop always sets the same one",
                confidence="likely",
                where=seen.where,
                label="the index is a number, not what the loop counts",
                culprit=Culprit(op=seen.optimizer, phase="optimizer"),
                evidence=(
                    f"{len(seen.first)} groups began with lr {seen.first[0]:g}; at the end others had {moved:.2g}",
                    "without change: " + ", ".join(f"`param_groups[{index}]`" for index in left[:6]),
                ),
                remedies=(Remedy(title='use the loop\'s own index: `optimizer.param_groups[i]["lr"] = lr`'),),
            )
