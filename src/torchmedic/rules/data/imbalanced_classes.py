"""Classes that are rare or alone: accuracy says little, and a split may lose them."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LabelColumn, Run
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, many, places, share
from torchmedic.rules.data._strays import strays

_RATIO = 20


class ImbalancedClasses(DataRule):
    """A hint: many data sets are like this by nature."""

    code = "DAT110"
    name = "imbalanced-classes"
    severity = "hint"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_FLAT)
    tell_apart = "the commonest class has at least 20 times the rows of the rarest"
    needs = (LabelColumn,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, LabelColumn):
            for labels in place.seen:
                if not _is_classes(labels) or strays(labels):
                    continue
                (rare, few), (common, most) = labels.classes[0], labels.classes[-1]
                if most < _RATIO * few:
                    continue
                yield self.report(
                    place,
                    (
                        f"class `{rare}` of `{labels.column}` has {many(few, 'row')}, class `{common}` {most:,}",
                        f"the rarest class has {many(few, 'row')}, the commonest {most:,}",
                    ),
                    evidence=[f"always saying `{common}` is right in {share(most, labels.rows)} of all rows"],
                    help=(
                        "judge by balanced accuracy, F1 or average precision, and split with `stratify=y`",
                        "or weigh the classes: `CrossEntropyLoss(weight=…)`, `WeightedRandomSampler`",
                    ),
                    field=labels.column,
                    rows=few,
                )


def _is_classes(labels: LabelColumn) -> bool:
    return 2 <= labels.distinct <= 200 and labels.rows >= 10 * labels.distinct
