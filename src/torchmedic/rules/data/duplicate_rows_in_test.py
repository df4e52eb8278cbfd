"""Rows of the test data that were trained on, by value."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, SharedRows
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom


class DuplicateRowsInTest(Rule):
    """Inputs of an evaluation equal inputs that the same model was trained on before, bit for bit."""

    code = "DAT003"
    name = "duplicate-rows-in-test"
    symptoms = (Symptom.SCORE_TOO_GOOD, Symptom.LOSS_EQUALS_TEST)
    tell_apart = "fingerprints of test rows are among those of the rows trained on"
    needs = (SharedRows,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(SharedRows):
            if seen.how != "rows":
                continue
            name = _held_out(seen)
            share = seen.shared / max(1, seen.looked_at)
            # What makes the copies is the line to move behind the split, where it lies in a function that returns both.
            where = (seen.multiplied if _is_return(seen) else None) or seen.split or seen.where or seen.evaluated
            yield self.diagnose(
                headline=f"{share:.0%} of the test rows in `{name}` are duplicates of rows in the train data",
                confidence="proven",
                step=seen.step,
                where=where,
                label="copies of one row go to both parts" if seen.multiplied else "the parts share rows",
                also=tuple(_also(seen, where)),
                culprit=Culprit(phase="data", tensor=name, rows=seen.shared),
                evidence=tuple(_evidence(seen)),
                remedies=(_cure(seen, name),),
            )


def _is_return(seen: SharedRows) -> bool:
    return seen.split is not None and seen.split.source.strip().startswith("return")


def _evidence(seen: SharedRows) -> Iterator[str]:
    yield (
        f"of {seen.looked_at} different test rows looked at, {seen.shared} equal, in every value, a row "
        f"that this model was trained on before"
    )
    if seen.same_memory and seen.shared == seen.looked_at and not seen.switch:
        yield "the two data sets are two objects that read the same memory"
    elif seen.switch:
        yield f"the class of both data sets has a method `{seen.switch}`, which no line calls"
    elif seen.train_built is not None:
        yield "the two data sets are different objects in different memory: the rows themselves are the same"


def _cure(seen: SharedRows, name: str) -> Remedy:
    if seen.multiplied:
        return Remedy(title="split first, then resample or augment the training part only")
    if seen.switch:
        return Remedy(title=f"switch the data set of `{name}` to its test part: call `.{seen.switch}()` on it")
    if seen.same_memory and seen.shared == seen.looked_at:
        return Remedy(title=f"give `{name}` rows of its own: it slices the part that is trained on")
    return Remedy(title="drop duplicates before splitting, or split by group so that equal rows stay together")


def _held_out(seen: SharedRows) -> str:
    return seen.names[-1] if seen.names else "the test data"


def _also(seen: SharedRows, where: object) -> Iterator[Also]:
    if seen.multiplied is not None and seen.multiplied is where:
        yield from (Also(location=place, why="the split comes after it") for place in (seen.split,) if place)
    elif seen.multiplied is not None:
        yield Also(location=seen.multiplied, why="makes copies of rows, before the split")
    if seen.switch_at is not None:
        yield Also(location=seen.switch_at, why="chooses the test part, and is called nowhere")
    if seen.train_built is not None and seen.split is None:
        yield Also(location=seen.train_built, why="trained on here")
    if seen.evaluated is not None and seen.evaluated is not where:
        yield Also(location=seen.evaluated, why="tested here")
