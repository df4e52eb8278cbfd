"""Class numbers that do not run from 0 to C-1, as cross-entropy wants them."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LabelColumn, Run
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, many, places
from torchmedic.rules.data._strays import strays

_FEW = 3


class LabelsNotFromZero(DataRule):
    """Off by one, negative, or with classes that no row has."""

    code = "DAT108"
    name = "labels-not-from-zero"
    symptoms = (Symptom.CRASH, Symptom.SCORE_LOW)
    tell_apart = "labels are class numbers, and the smallest is not 0, or numbers between are missing"
    needs = (LabelColumn,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, LabelColumn):
            for labels in place.seen:
                what = _wrong(labels)
                if what is None:
                    continue
                headline, help_line = what
                assert labels.minimum is not None
                yield self.report(
                    place,
                    (headline, "labels do not run from 0"),
                    confidence="likely",
                    evidence=[
                        f"{many(labels.distinct, 'class')} in {many(labels.rows, 'row')}; "
                        f"the fewest: {', '.join(f'`{value}` ({n:,})' for value, n in labels.classes[:4])}",
                        "`CrossEntropyLoss` takes class numbers from 0 to C-1 for C outputs",
                    ],
                    help=(help_line,),
                    field=labels.column,
                    rows=labels.rows,
                )


def _wrong(labels: LabelColumn) -> tuple[str, str] | None:
    """Headline and help, for labels that are numbers of classes beyond doubt."""
    low, high = labels.minimum, labels.maximum
    if not labels.whole or low is None or high is None or labels.distinct < 3 or labels.rows < 10 * labels.distinct:
        return None
    width = high - low + 1
    if (apart := strays(labels)) and [value for value, _ in apart] != [-1]:
        return _apart(labels, apart)
    if low == 1 and width == labels.distinct:
        span = f"`{labels.column}` runs from 1 to {high:.0f}, not from 0 to {high - 1:.0f}"
        return span, f"subtract 1: `y = df['{labels.column}'] - 1`"
    if low == -1 and width == labels.distinct:
        return (
            f"`{labels.column}` is -1 in {many(_times(labels, -1), 'row')}, which is no class number",
            "if -1 stands for rows without a label, leave them out, or tell the loss: `ignore_index=-1`; else add 1",
        )
    if low in (0, 1) and labels.distinct < width <= _with_gaps(labels.distinct):
        known = {int(float(value)) for value, _ in labels.classes}
        absent = [number for number in range(int(low), int(high) + 1) if number not in known]
        shown = ", ".join(map(str, absent[:4]))
        return (
            f"`{labels.column}` runs from {low:.0f} to {high:.0f}, and no row has class {shown}",
            "find out where these rows went, or number the classes anew: `y, names = pd.factorize(df[column])`",
        )
    return None


def _apart(labels: LabelColumn, apart: list[tuple[int, int]]) -> tuple[str, str]:
    shown = " and ".join(str(value) for value, _ in apart[:3])
    known = {int(float(value)) for value, _ in labels.classes} - {value for value, _ in apart}
    rows = many(sum(n for _, n in apart), "row")
    return (
        f"`{labels.column}` is {shown} in {rows}, where the classes are {min(known)} to {max(known)}",
        f"look at these rows; if they are without a label, leave them out, or tell the loss: "
        f"`ignore_index={apart[0][0]}`",
    )


def _with_gaps(distinct: int) -> float:
    """How far numbers of so many classes may reach: of few classes one may be missing, of three none."""
    return max(1.2 * distinct, distinct + 1 if distinct > _FEW else 0)


def _times(labels: LabelColumn, wanted: int) -> int:
    return sum(n for value, n in labels.classes if float(value) == wanted)
