"""Targets with fractions that were cast to whole numbers before the training began."""

from __future__ import annotations

import math
from collections.abc import Iterator

from torchmedic.facts import CutField, LossCall, LossPairing, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom

_ERRORS = 4
_DISTANCES = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")


class FractionsCutBeforeTraining(Rule):
    """An array of whole numbers is what is left of floats of the script, and a distance is measured to it."""

    code = "DAT147"
    name = "fractions-cut-before-training"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_FLAT)
    tell_apart = "the targets of a distance are whole numbers, and the script holds them with fractions as well"
    needs = (CutField, LossCall, LossPairing)
    folds = ("constant-target",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        distances = [pairing for pairing in run.all(LossPairing) if pairing.function in _DISTANCES]
        calls = [call for call in run.all(LossCall) if call.function in _DISTANCES]
        if not calls or not distances or not all(pairing.whole for pairing in distances):
            return
        alike = [seen for seen in run.all(CutField) if all(_are_drawn_from(pairing, seen) for pairing in distances)]
        cut = [seen for seen in alike if all(_is_target(call, seen) for call in calls)]
        seen = next((one for one in cut if one.cast or one.made), None)
        where = (seen.cast or seen.made) if seen is not None else None
        if seen is None or where is None:
            return
        share, ends = f"{seen.fractions:.0%}", f"{seen.low:.4g} to {seen.high:.4g}"
        yield self.diagnose(
            headline=f"`{seen.name}` loses its fractions: {share} of the numbers are cut"
            if seen.name == seen.source or "(" in seen.source
            else f"`{seen.name}` is `{seen.source}` without its fractions: {share} of the numbers are cut",
            confidence="proven",
            step=seen.step,
            where=where,
            label=f"a cast to {seen.dtype}",
            also=(Also(location=calls[0].where, why="a distance to what is left"),) if calls[0].where else (),
            culprit=Culprit(op=calls[0].function, phase="data", tensor=seen.name),
            evidence=(
                f"{seen.example:.4g} became {int(seen.example)}; what is left goes from {ends}",
                f"in all {len(distances)} steps looked at the targets of `{calls[0].function}` were whole numbers",
            ),
            remedies=(Remedy(title="leave the targets as floats: `.float()` in place of the cast"),),
        )


def _are_drawn_from(pairing: LossPairing, field: CutField) -> bool:
    """Whether mean and spread of the targets of one step are those of a handful of rows of the field."""
    error = field.spread / math.sqrt(pairing.samples)
    is_near = abs(pairing.target_mean - field.mean) <= _ERRORS * error + 1e-9
    return is_near and field.spread / 2 <= pairing.target_spread <= 2 * field.spread


def _is_target(call: LossCall, field: CutField) -> bool:
    """Whether what the loss was given may be rows of the field."""
    low, high = call.target.minimum, call.target.maximum
    if low is None or high is None or call.target.shape[1:] not in (field.shape, (*field.shape, 1)):
        return False
    return field.low <= low <= high <= field.high
