"""A single column that gives the label away."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, TellingColumn
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, listed, many, places, share


class LabelToldByColumn(DataRule):
    """The label itself under another name, or something that is known only after it."""

    code = "DAT118"
    name = "label-told-by-column"
    symptoms = (Symptom.SCORE_TOO_GOOD, Symptom.LOSS_ZERO)
    tell_apart = "one column alone predicts the label without error"
    needs = (TellingColumn,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, TellingColumn):
            first = place.seen[0]
            others = [seen.column for seen in place.seen[1:]]
            yield self.report(
                place,
                (
                    f"`{first.column}` alone gives `{first.label}` away in {many(first.rows, 'row')}",
                    f"a single column gives `{first.label}` away",
                ),
                confidence="likely",
                evidence=[
                    _evidence(first),
                    *([f"so {'does' if len(others) == 1 else 'do'} {listed(others)}"] if others else []),
                ],
                help=(f"ask whether `{first.column}` is known when the prediction is made; if not, leave it out",),
                field=first.column,
                rows=first.rows,
            )


def _evidence(seen: TellingColumn) -> str:
    if seen.how == "correlation":
        return f"its correlation with `{seen.label}` is {seen.hits:.6f}: the same quantity in other units"
    return (
        f"each of its {many(seen.values, 'value')} goes with one class: right in {share(seen.hits, 1)} of the rows, "
        f"where the commonest class alone is right in {share(seen.baseline, 1)}"
    )
