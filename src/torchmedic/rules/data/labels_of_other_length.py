"""Samples and labels of one file that are not equally many: from some row on, each label belongs to another sample."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchmedic.facts import ArraySeen, Run
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, many, places

_PART = re.compile(r"train|test|val|dev|eval", re.IGNORECASE)
_NEARLY = 0.9


class LabelsOfOtherLength(DataRule):
    """Only lengths that nearly agree: other arrays of a file may hold anything."""

    code = "DAT141"
    name = "labels-of-other-length"
    symptoms = (Symptom.CRASH, Symptom.SCORE_LOW)
    tell_apart = "a file holds a few more samples than labels, or fewer"
    needs = (ArraySeen,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, ArraySeen):
            for labels in (seen for seen in place.seen if seen.purpose == "label" and len(seen.shape) == 1):
                samples = _samples(labels, place.seen)
                if samples is None:
                    continue
                count, others = _count(labels), _count(samples)
                shorter = min(count, others)
                yield self.report(
                    place,
                    f"`{samples.name}` holds {many(others, 'sample')}, `{labels.name}` {many(count, 'label')}",
                    confidence="likely",
                    evidence=[
                        f"`zip` and slices end at {shorter:,} without a word; `TensorDataset` raises",
                        "where one was lost in the middle, each label after it belongs to the sample before",
                    ],
                    help=(
                        "find out which one was dropped where they are written, and write both again",
                        f"cut to {shorter:,} only where the odd one is the last",
                    ),
                    field=labels.name,
                    rows=abs(others - count),
                )


def _samples(labels: ArraySeen, arrays: list[ArraySeen]) -> ArraySeen | None:
    """The samples that the labels belong to, where none are as many and some nearly are."""
    others = [
        seen
        for seen in arrays
        if len(seen.shape) >= 2 and seen.purpose not in ("weight", "label") and _part(seen) == _part(labels)
    ]
    count = _count(labels)
    if not count or any(_count(seen) == count for seen in others):
        return None
    nearly = [seen for seen in others if min(_count(seen), count) >= _NEARLY * max(_count(seen), count)]
    return nearly[0] if len(nearly) == 1 else None


def _count(seen: ArraySeen) -> int:
    """With the samples of another shape, which are there as well."""
    return seen.shape[0] + seen.left_out


def _part(seen: ArraySeen) -> str:
    found = _PART.search(seen.name)
    return found.group().lower() if found else ""
