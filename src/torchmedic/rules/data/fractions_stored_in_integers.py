"""Fractions that are put into an array of whole numbers one by one: it keeps what stands before the point."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import CutStores, OptimizerSeen, Run, TruncatedStores
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also

_LEAST_LOST = 0.55  # who sorts numbers into two bins or more on purpose loses half of their size at most


class FractionsStoredInIntegers(Rule):
    """An array takes over the integer type of another, is filled with quotients, and is trained on."""

    code = "DAT170"
    name = "fractions-stored-in-integers"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "inputs that the script divides are whole numbers, of which few are left"
    needs = (OptimizerSeen,)
    folds = ("identical-inputs", "constant-column", "answers-unrelated-to-targets", "LOS", "TRN")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(CutStores):
            yield self.diagnose(
                headline=f"`{seen.array}` holds whole numbers: the fractions that are put into it are cut",
                confidence="likely",
                step=seen.step,
                where=seen.made,
                mark=seen.text,
                label=f"an array of {seen.dtype}" if seen.dtype else "an array of whole numbers",
                also=also((seen.stored, "quotients are put into it here"), where=seen.made),
                culprit=Culprit(op="division", phase="data", tensor=seen.array),
                evidence=tuple(_evidence(seen)),
                remedies=(Remedy(title=f"make `{seen.array}` of floats: give `dtype=np.float32` where it is made"),),
            )
        seen_storing = max(run.all(TruncatedStores), key=lambda one: one.lost, default=None)
        if seen_storing is not None and seen_storing.lost > _LEAST_LOST and run.first(CutStores) is None:
            yield self._of_line(seen_storing)

    def _of_line(self, seen: TruncatedStores) -> Diagnosis:
        return self.diagnose(
            headline=f"`{seen.array}` holds whole numbers: the fractions that are put into it are cut",
            confidence="proven",
            step=seen.step,
            where=seen.made,
            mark=seen.text,
            label=f"an array of {seen.dtype}",
            also=also((seen.stored, f"`{seen.value}` is put into it here"), where=seen.made),
            culprit=Culprit(op="division", phase="data", tensor=seen.array),
            evidence=(
                f"{seen.example:.4g} became {int(seen.example)}: assigning to a part of an array casts in silence",
                f"{seen.zeroed} of the {seen.values} numbers other than 0 that were put there before the first step "
                f"became 0; {seen.lost:.0%} of their size was lost",
            ),
            remedies=(Remedy(title=f"make `{seen.array}` of floats: give a `dtype` of floats where it is made"),),
        )


def _evidence(seen: CutStores) -> Iterator[str]:
    if seen.source:
        yield f"`{seen.source}` is {seen.dtype}, and so is `{seen.text}`: assigning to its parts casts in silence"
        yield f"`{seen.source}` has {seen.before} different numbers in a column"
    else:
        yield f"`{seen.text}` makes whole numbers: assigning to its parts casts in silence"
    yield f"`{seen.name}`, made of it, has {seen.after} different numbers in a column; {seen.zeros:.0%} of all are 0"
