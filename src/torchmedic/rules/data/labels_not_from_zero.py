"""Class numbers that do not run from 0 to C-1, as cross-entropy wants them."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LabelColumn, Run
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, many, places


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
    if low == 1 and high == labels.distinct:
        span = f"`{labels.column}` runs from 1 to {high:.0f}, not from 0 to {high - 1:.0f}"
        return span, f"subtract 1: `y = df['{labels.column}'] - 1`"
    if low == 0 and labels.distinct < high + 1 <= 1.2 * labels.distinct:
        known = {int(float(value)) for value, _ in labels.classes}
        absent = [number for number in range(int(high) + 1) if number not in known]
        shown = ", ".join(map(str, absent[:4]))
        return (
            f"`{labels.column}` runs from 0 to {high:.0f}, and no row has class {shown}",
            "find out where these rows went, or number the classes anew: `y, names = pd.factorize(df[column])`",
        )
    return None
