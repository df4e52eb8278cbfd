"""A mask of class numbers that is resized like a photograph: between 2 and 9 it gets a 5."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import BlendedLabels, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom

_NEAREST = {
    "PIL": "resample=Image.NEAREST",
    "cv2": "interpolation=cv2.INTER_NEAREST",
    "scipy": "order=0",
    "skimage": "order=0",
    "torch": 'mode="nearest"',
}


class LabelsBlendedByResizing(Rule):
    """Interpolation makes labels that are not in the mask."""

    code = "DAT180"
    name = "labels-blended-by-resizing"
    symptoms = (Symptom.CRASH, Symptom.SCORE_LOW)
    tell_apart = "masks have labels that their files do not have, most of them along borders"
    needs = (BlendedLabels,)
    folds = ("label-out-of-range", "device-side-assert", "padding-counted-as-class")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(BlendedLabels):
            new = _listed(seen.invented)
            yield self.diagnose(
                headline=f"`{seen.function}` invents labels: it gives {new} for a mask of {_listed(seen.before)}",
                confidence="proven",
                step=seen.step,
                where=seen.where,
                mark=seen.text,
                label="blends the numbers of classes",
                culprit=Culprit(op=seen.function, phase="data", tensor=seen.name),
                evidence=tuple(_evidence(seen)),
                remedies=(
                    Remedy(
                        title=f"take the nearest pixel for masks: `{_NEAREST.get(seen.library, _NEAREST['torch'])}`",
                        detail="images may go on being interpolated: give the function another filter for each",
                    ),
                ),
            )


def _evidence(seen: BlendedLabels) -> Iterator[str]:
    if seen.is_default:
        yield f"no filter is chosen, so {seen.library} interpolates: {seen.filter}"
    elif seen.filter:
        yield f"it interpolates: {seen.filter}"
    yield f"{seen.share:.1%} of the labels in one `{seen.name}` were not in the mask before"


def _listed(numbers: tuple[int, ...], most: int = 3) -> str:
    """
    >>> _listed((4, 9)), _listed((0, 1, 2, 3))
    ('4 and 9', '0, 1, 2 …')
    """
    if len(numbers) > most:
        return ", ".join(map(str, numbers[:most])) + " …"
    return " and ".join(filter(None, [", ".join(map(str, numbers[:-1])), str(numbers[-1])]))
