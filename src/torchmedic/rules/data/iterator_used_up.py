"""A `zip`, generator or `iter(loader)` made before the loop over epochs: used up in the first, empty in all others."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, SpentIterator
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom

_LEAST_EMPTY = 2


class IteratorUsedUp(Rule):
    """Later passes over an iterator that hands out its items once do nothing."""

    code = "DAT175"
    name = "iterator-used-up"
    symptoms = (Symptom.LOSS_FLAT, Symptom.LOSS_ZERO, Symptom.WEIGHTS_STILL, Symptom.SCORE_LOW)
    tell_apart = "only the first pass has steps: the loops after it end before their first batch"
    needs = (SpentIterator,)
    folds = ("TRN", "scheduler-stepped-too-rarely", "schedule-used-up")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(SpentIterator):
            if seen.empty < _LEAST_EMPTY and (seen.passes is None or seen.empty + 1 < seen.passes):
                continue
            if seen.keeper:
                yield self._kept(seen, run.info.steps)
                continue
            where = seen.made or seen.loop
            yield self.diagnose(
                headline=f"`{seen.name}` is used up after one pass: {_times(seen.empty)} over it did nothing",
                confidence="proven",
                where=where,
                label="made once, and hands out its items once",
                also=(Also(location=seen.loop, why="the body of this loop runs in the first pass only"),)
                if seen.loop != where
                else (),
                culprit=Culprit(op="iter", phase="data", tensor=seen.name),
                evidence=(
                    f"`{seen.text}` is an iterator: once exhausted, it stays empty",
                    f"{run.info.steps} optimizer steps were taken in the whole run",
                ),
                remedies=(
                    Remedy(title=f"make it anew in every epoch: move `{seen.name} = …` into the loop over epochs"),
                ),
            )

    def _kept(self, seen: SpentIterator, steps: int) -> Diagnosis:
        """A data set whose passes all go over one iterator."""
        where = (seen.made if seen.name else None) or seen.handed_by or seen.loop
        others = (
            (seen.handed_by, "hands out the same one in every pass"),
            (seen.loop, "no batch after the first pass"),
        )
        what = f"`{seen.keeper}.{seen.name}`" if seen.name else f"`{seen.keeper}`"
        return self.diagnose(
            headline=f"{what} is used up after one pass: {_times(seen.empty)} got no batch",
            confidence="proven",
            where=where,
            label="made once, for all passes" if where is seen.made else "begins nothing anew",
            also=tuple(Also(location=place, why=why) for place, why in others if place is not None and place != where),
            culprit=Culprit(op="__iter__", phase="data", tensor=f"self.{seen.name}" if seen.name else seen.keeper),
            evidence=(
                f"`{seen.text}` is an iterator: once exhausted, it stays empty"
                if seen.text
                else "`__iter__` returns the data set itself, which stays at its end",
                *((f"the first pass had batches ({seen.batches}), the later ones have none",) if seen.batches else ()),
                f"{steps} optimizer steps were taken in the whole run",
            ),
            remedies=(
                Remedy(title=f"make the iterator anew in `{seen.keeper}.__iter__`: keep only what it is made from"),
            ),
        )


def _times(empty: int) -> str:
    return f"{empty} later loops" if empty > 1 else "the later loop"
