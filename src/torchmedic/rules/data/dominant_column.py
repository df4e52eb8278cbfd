"""One input column is thousands of times as large as the others, and nothing was learned."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from torchmedic.facts import HeldTable, InputSeen, Run, TrainingCourse
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.data._columns import largest, table_behind
from torchmedic.rules.training._course import ending, is_simple, learned_nothing

_LEAST_SEEN = 3
_LEAST_SIZE = 100.0
_LEAST_RATIO = 300.0


class DominantColumn(Rule):
    """Unscaled inputs: the first layer sees little but one column, and the loss has not come down."""

    code = "DAT052"
    name = "dominant-column"
    severity = "warning"
    symptoms = (Symptom.LOSS_FLAT, Symptom.LOSS_NOISY, Symptom.SCORE_LOW)
    tell_apart = "one column of the input is hundreds of times as large as the typical one"
    needs = (InputSeen, TrainingCourse)
    folds = ("saturated-activation", "dead-activation", "learning-rate-too-high", "answers-unrelated-to-targets")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        course = run.first(TrainingCourse)
        shown = [seen for seen in run.all(InputSeen) if len(seen.spreads) > 1]
        if course is None or len(shown) < _LEAST_SEEN or not is_simple(course):
            return
        found = {_dominant(seen) for seen in shown}
        if len(found) != 1 or None in found or not learned_nothing(run, course, first=10):
            return
        first = shown[0]
        column, size, typical = _sizes(first)
        table = table_behind(run, first, column)
        called = _called(column, first, table)
        at_call = f"`{first.expression}` is given unscaled columns"
        yield self.diagnose(
            headline=f"{called} of the input is about {size:.3g}, the others about {typical:.3g}",
            confidence="likely",
            step=first.step,
            where=table.made if table is not None else first.called,
            label=f"`{table.name}` is made of unscaled columns" if table is not None else at_call,
            also=_also(first, table),
            culprit=Culprit(op=first.op, phase="data", tensor=first.expression),
            evidence=(
                f"so it was in all {len(shown)} steps looked at; mean {first.means[column]:.3g}, spread "
                f"{first.spreads[column]:.3g}",
                f"the loss began at {course.head[0]:.4g} and is {ending(course):.4g} at the end",
            ),
            remedies=tuple(_remedies(first)),
        )


def _remedies(seen: InputSeen) -> Iterator[Remedy]:
    yield Remedy(title="scale every column to zero mean and unit spread, with figures of the training part")
    if len(seen.shape) == 2:
        yield Remedy(title="or put `nn.BatchNorm1d` in front of the first layer")


def _called(column: int, seen: InputSeen, table: HeldTable | None) -> str:
    """The column by its number, and by its name where the table is the whole input."""
    is_whole = table is not None and len(table.labels) == len(seen.means)
    return f"column {column} ({table.labels[column]})" if table is not None and is_whole else f"column {column}"


def _also(seen: InputSeen, table: HeldTable | None) -> tuple[Also, ...]:
    layer = (Also(location=seen.layer_built, why="the first layer"),) if seen.layer_built else ()
    is_told = table is not None and seen.called is not None
    return (*((Also(location=seen.called, why="the model is given it"),) if is_told and seen.called else ()), *layer)


def _dominant(seen: InputSeen) -> int | None:
    column, size, typical = _sizes(seen)
    return column if size >= _LEAST_SIZE and size >= _LEAST_RATIO * max(typical, 1e-12) else None


def _sizes(seen: InputSeen) -> tuple[int, float, float]:
    """The largest column, its size, and the middle size of all."""
    column, sizes = largest(seen)
    rest = sizes[:column] + sizes[column + 1 :]
    return column, sizes[column], statistics.median(rest)
