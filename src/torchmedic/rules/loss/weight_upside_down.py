"""Weights of classes that make what is rare rarer still: the share, where one over the share was meant."""

from __future__ import annotations

import math
from collections.abc import Iterator

from torchmedic.facts import ClassWeights, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.loss._weights import LEAST_OF_CLASS, doubt, weights_given

_RARE = 1 / 3  # positives for each negative: what is not much rarer needs no weight
_UNEQUAL = 3.0
_COLUMNS_FOR_ONE_OFF, _FURTHER = 4, 2.0


class WeightUpsideDown(Rule):
    """The weights follow the frequencies of the classes, where they were to make up for them."""

    code = "LOS095"
    name = "weight-upside-down"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_FLAT)
    tell_apart = "`pos_weight` is positives by negatives, or `weight` the share of each class: rare ones count less"
    needs = (ClassWeights,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen, counts, total in weights_given(run):
            told = _of_positives if seen.argument == "pos_weight" else _of_classes
            found = told(seen, counts, total)
            if found is not None:
                yield self._told(seen, *found)

    def _told(self, seen: ClassWeights, headline: str, evidence: str, cure: str) -> Diagnosis:
        where = seen.made or seen.where
        handed = seen.where if seen.made is not None else None
        return self.diagnose(
            headline=headline,
            confidence="likely",
            step=seen.step,
            where=where,
            label="upside down: rare classes count less, not more",
            also=(Also(location=handed, why="the loss is given it here"),) if handed is not None else (),
            culprit=Culprit(op=seen.function, phase="forward", tensor=seen.argument),
            evidence=(
                evidence,
                "what is rare and counts little is never answered: that costs the loss next to nothing",
            ),
            remedies=(Remedy(title=cure),),
        )


def _is_fit(apart: list[float]) -> bool:
    """Whether numbers fit, told how far each is off in units of its doubt; of many, chance brings some further off."""
    off = sum(one > 1 for one in apart)
    return off <= len(apart) // _COLUMNS_FOR_ONE_OFF and max(apart) <= _FURTHER


def _of_positives(seen: ClassWeights, counts: tuple[int, ...], total: int) -> tuple[str, str, str] | None:
    told = [(w, n) for w, n in zip(seen.weights, counts, strict=True) if LEAST_OF_CLASS <= n < total and w > 0]
    odds = [n / (total - n) for _, n in told]
    apart = [abs(math.log(w / o)) / doubt(n) for (w, n), o in zip(told, odds, strict=True)]
    rare = [o < _RARE for o in odds]
    if not told or not _is_fit(apart) or not all(rare) or 2 * len(told) < len(counts):
        return None
    weight, count = told[0]
    return (
        f"`pos_weight` is {weight:.2g}: the rare positives are weighted down instead of up",
        f"of {total} labels looked at, {count} are positive: there are {odds[0]:.2g} positives for each negative, and "
        f"`pos_weight` is that number",
        f"turn it round: negatives by positives, about {1 / odds[0]:.2g}",
    )


def _of_classes(seen: ClassWeights, counts: tuple[int, ...], total: int) -> tuple[str, str, str] | None:
    told = [(w, n) for w, n in zip(seen.weights, counts, strict=True) if n >= LEAST_OF_CLASS]
    if len(told) < 2 or any(w <= 0 for w, _ in told) or 2 * len(told) < len(counts):
        return None
    (low, rare), (high, frequent) = min(told, key=lambda each: each[1]), max(told, key=lambda each: each[1])
    shift = sum(n * math.log(w / n) for w, n in told) / sum(n for _, n in told)
    if frequent < _UNEQUAL * rare or any(abs(math.log(w / n) - shift) > doubt(n) for w, n in told):
        return None
    return (
        f"the `weight` of each class is its share: a rare class counts {high / low:.2g} times less",
        f"of {total} labels looked at, {frequent} are of the most frequent class, which has weight {high:.2g}, and "
        f"{rare} of the rarest, which has {low:.2g}",
        "turn them round: one over the number of labels of each class",
    )
