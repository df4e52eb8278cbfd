"""`(B, C, L).view(-1, C)`: rows of scores that belong to several positions."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import PickedMixed, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.loss._calls import CLASS_LOSSES, always, loss_line, seen, shown

_LEAST_STEPS = 2
_TAKES = "it takes classes in dimension 1"


class ViewMixesClasses(Rule):
    """Scores with their classes in dimension 1 were cut into rows without moving that dimension last."""

    code = "LOS013"
    name = "view-mixes-classes"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "a view made the class dimension last without a permute"
    needs = ()

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for call, times in always(run, CLASS_LOSSES, lambda c: c.scrambled is not None):
            if call.scrambled is not None:
                also = loss_line(call, "the rows meet the labels here") if call.scrambled.where != call.where else ()
                ways = (Remedy(title=f"or give the loss {shown(call.scrambled_from)} as it is", detail=_TAKES),)
                mixed = PickedMixed(
                    step=call.step,
                    cut=call.scrambled,
                    before=call.scrambled_from,
                    shape=call.given.shape,
                    picked_at=None,
                    picked_by="",
                )
                yield self._diagnosis(mixed, times, call.names[0], also, ways)
        picked = [seen for seen in run.all(PickedMixed) if seen.picked_at is not None]
        by_line = {
            str(one.cut.where): [other for other in picked if other.cut.where == one.cut.where] for one in picked
        }
        for found in by_line.values():
            steps = len({one.step for one in found})
            if steps >= _LEAST_STEPS and found[0].picked_at is not None:
                also = (Also(location=found[0].picked_at, why="the labels pick from the rows here"),)
                is_same = found[0].picked_at == found[0].cut.where
                yield self._diagnosis(found[0], steps, found[0].picked_by, () if is_same else also, ())

    def _diagnosis(
        self, mixed: PickedMixed, times: int, tensor: str, also: tuple[Also, ...], ways: tuple[Remedy, ...]
    ) -> Diagnosis:
        cut, before, classes = mixed.cut, mixed.before, mixed.shape[1]
        moved = ", ".join(map(str, (0, *range(2, len(before)), 1)))
        return self.diagnose(
            headline=f"`{cut.op}` of {shown(before)} to {shown(mixed.shape)} mixes classes and positions",
            confidence="proven",
            step=mixed.step,
            where=cut.where,
            mark=cut.expression,
            label=f"dimension 1 holds the {classes} classes, and is not the last",
            also=also,
            culprit=Culprit(op=cut.op, phase="forward", tensor=tensor),
            evidence=(
                f"a view cuts along memory: a row of {classes} numbers holds {classes} neighbouring positions of "
                f"one class, not {classes} classes of one position; so it was in {seen(times)}",
            ),
            remedies=(
                Remedy(title=f"move the classes last first: `.permute({moved}).reshape(-1, {classes})`"),
                *ways,
            ),
        )
