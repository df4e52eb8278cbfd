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


def _times(empty: int) -> str:
    return f"{empty} later loops" if empty > 1 else "the later loop"
