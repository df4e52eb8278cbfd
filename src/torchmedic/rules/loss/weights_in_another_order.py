"""Weights that make up for the frequencies of classes, each of which stands at the place of another class."""

from __future__ import annotations

import math
from collections.abc import Iterator

from torchmedic.facts import ClassWeights, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.loss._weights import LEAST_OF_CLASS, doubt, weights_given

_LEAST_CLASSES = 3
_UNEQUAL = 3.0
_FAR = math.log(2.5)
_POWERS = (1.0, 0.5)  # one over the frequency, and one over its root


class WeightsInAnotherOrder(Rule):
    """Sorted, weights and frequencies belong together; as they stand, they do not."""

    code = "LOS141"
    name = "weights-in-another-order"
    symptoms = (Symptom.SCORE_LOW,)
    tell_apart = "the weights are one over the frequencies of the classes, but of other classes than they stand for"
    needs = (ClassWeights,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen, counts, total in weights_given(run):
            odds = seen.argument == "pos_weight"
            shares = [n / (total - n if odds else total) for n in counts if n < total]
            if _is_misplaced(seen.weights, counts, shares):
                yield self._told(seen, counts, total)

    def _told(self, seen: ClassWeights, counts: tuple[int, ...], total: int) -> Diagnosis:
        where = seen.made or seen.where
        handed = seen.where if seen.made is not None else None
        rarest, heaviest = counts.index(min(counts)), seen.weights.index(max(seen.weights))
        by_frequency = list(seen.weights) in (sorted(seen.weights), sorted(seen.weights, reverse=True))
        return self.diagnose(
            headline=f"the largest class weight stands at class {heaviest}, and the rarest class is {rarest}",
            confidence="likely",
            step=seen.step,
            where=where,
            label="in order of frequency, not of class" if by_frequency else "in another order than the classes",
            also=(Also(location=handed, why="the loss is given it here"),) if handed is not None else (),
            culprit=Culprit(op=seen.function, phase="forward", tensor=seen.argument),
            evidence=(
                f"of {total} labels looked at, {counts[rarest]} are of class {rarest}, which has weight "
                f"{seen.weights[rarest]:.2g}, and {counts[heaviest]} of class {heaviest}, which has "
                f"{seen.weights[heaviest]:.2g}",
                f"sorted, the `{seen.argument}` fits the frequencies of the classes; as it stands, rare classes are "
                "given the weights of frequent ones",
            ),
            remedies=(
                Remedy(title="count in order of class: `value_counts().sort_index()`, or `np.bincount(labels)`"),
                Remedy(title="`value_counts()` and `Counter.most_common()` put the most frequent class first"),
            ),
        )


def _is_misplaced(weights: tuple[float, ...], counts: tuple[int, ...], shares: list[float]) -> bool:
    """Whether weights that fit the frequencies when both are sorted are far off at two places at least."""
    is_told = len(weights) == len(counts) == len(shares) >= _LEAST_CLASSES
    if not is_told or min(counts) < LEAST_OF_CLASS or max(counts) < _UNEQUAL * min(counts) or min(weights) <= 0:
        return False
    rising = sorted(zip(counts, shares, strict=True))
    for power in _POWERS:
        wanted = [-power * math.log(share) for _, share in rising]
        sized = [power * doubt(n) for n, _ in rising]
        falling = sorted(map(math.log, weights), reverse=True)
        shift = _middle([one - other for one, other in zip(falling, wanted, strict=True)])
        fits = all(abs(w - a - shift) <= d for w, a, d in zip(falling, wanted, sized, strict=True))
        here = [math.log(w) + power * math.log(share) - shift for w, share in zip(weights, shares, strict=True)]
        is_upside_down = power == 1 and _spread([math.log(w / s) for w, s in zip(weights, shares, strict=True)]) < _FAR
        if fits and not is_upside_down and sum(abs(off) > power * _FAR for off in here) > 1:
            return True
    return False


def _middle(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def _spread(values: list[float]) -> float:
    return max(values) - min(values)
