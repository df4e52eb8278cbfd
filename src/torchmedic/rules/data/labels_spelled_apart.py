"""One class under several names: capitals or blanks make two of it."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LabelColumn, Run
from torchmedic.findings import Diagnosis, Symptom
from torchmedic.rules.data._offline import DataRule, many, places


class LabelsSpelledApart(DataRule):
    """Names that are equal but for case and blanks; as class numbers they are strangers."""

    code = "DAT223"
    name = "labels-spelled-apart"
    symptoms = (Symptom.SCORE_LOW,)
    tell_apart = "two names of classes are equal but for capitals or blanks"
    needs = (LabelColumn,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for place in places(run, LabelColumn):
            for labels in place.seen:
                apart = [names for names in _alike(labels).values() if len(names) > 1]
                if not apart:
                    continue
                verb = "has" if len(apart) == 1 else "have"
                shown = [" and ".join(f"`{name}` ({n:,})" for name, n in names) for names in apart]
                yield self.report(
                    place,
                    (
                        f"{many(len(apart), 'class')} of `{labels.column}` {verb} several spellings",
                        f"{many(len(apart), 'class')} {verb} several spellings",
                    ),
                    evidence=[f"with their rows: {'; '.join(shown[:4])}"],
                    help=(f"make one of them: `df['{labels.column}'].str.strip().str.lower()`",),
                    field=labels.column,
                    rows=sum(n for names in apart for _, n in names[:-1]),
                )


def _alike(labels: LabelColumn) -> dict[str, list[tuple[str, int]]]:
    """Names of several letters by what is left of them without case and blanks, fewest rows first."""
    found: dict[str, list[tuple[str, int]]] = {}
    for name, n in labels.classes:
        # One letter may well mean another thing than its capital.
        if len(name.strip()) > 1:
            found.setdefault(" ".join(name.split()).casefold(), []).append((name, n))
    return found
