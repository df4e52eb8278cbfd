"""Each split numbers the labels of a column by itself, and the numbers disagree."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import EncodedAnew, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom

_NUMBERING = (".codes", "pd.factorize", "factorize", "fit_transform", "fit")


class EncodedAnewPerSplit(Rule):
    """Codes are counted from the labels at hand, so a split that lacks one label shifts all behind it."""

    code = "DAT075"
    name = "encoded-anew-per-split"
    symptoms = (Symptom.SCORE_LOW,)
    tell_apart = "the score in training is good; in evaluation the same label arrives under another number"
    needs = (EncodedAnew,)
    folds = ("overfitted-model", "label-numbers-differ")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        by_line: dict[object, list[EncodedAnew]] = {}
        for seen in run.all(EncodedAnew):
            by_line.setdefault(seen.where, []).append(seen)
        for group in by_line.values():
            yield self._diagnosis(max(group, key=lambda seen: seen.differing / seen.common), group)

    def _diagnosis(self, seen: EncodedAnew, group: list[EncodedAnew]) -> Diagnosis:
        first, second = _splits(seen)
        column = f"`{seen.column}`" if seen.column else f"`{seen.encoder}`"
        others = [f"`{other.column}`" for other in group if other is not seen]
        too = (f"so it is with {', '.join(others[:5])} too",) if others else ()
        places = ((seen.first_at, "numbered here the first time"), (seen.called, "numbered anew by way of this line"))
        return self.diagnose(
            headline=f"{column}: '{seen.label}' is {seen.numbers[0]} in {first} and {seen.numbers[1]} in {second}",
            confidence="proven",
            step=seen.step,
            where=seen.where,
            mark=next((word for word in _NUMBERING if word in seen.where.source), ""),
            label="numbers the labels of the rows at hand",
            also=tuple(Also(location=at, why=why) for at, why in places if at is not None and at != seen.where),
            culprit=Culprit(phase="data", field=seen.column or None, op=seen.encoder, tensor=seen.label),
            evidence=(
                f"{seen.differing} of the {seen.common} labels that both have got another number: there were "
                f"{seen.labels[0]} labels in {first} and {seen.labels[1]} in {second}",
                *too,
            ),
            remedies=(
                Remedy(title="number the labels once, before the split or from the training rows"),
                Remedy(
                    title="and use the same numbers for every split",
                    detail="`pd.Categorical(values, categories=...)`, or `fit` once and `transform` the other splits",
                ),
            ),
        )


def _splits(seen: EncodedAnew) -> tuple[str, str]:
    first, second = seen.tables
    if not first or not second or first == second:
        return "the first split", "the second split"
    return f"`{first}`", f"`{second}`"
