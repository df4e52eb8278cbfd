"""The inputs of evaluation have another scale than those of training: one of the two was not prepared."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import InputsApart, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom

_LEAST_RATIO = 3.0
_LEAST_VALUES = 500


class EvaluatedInAnotherScale(Rule):
    """The spread of the values differs several times between the loader that is trained on and the held-out one."""

    code = "DAT071"
    name = "evaluated-in-another-scale"
    symptoms = (Symptom.SCORE_LOW,)
    tell_apart = "the inputs of the held-out loader are several times as wide, or as narrow, as the ones trained on"
    needs = (InputsApart,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(InputsApart):
            train, held = seen.spreads
            if seen.values < _LEAST_VALUES or not min(*seen.spreads, *seen.within) > 0 or not _is_apart(seen):
                continue
            name = f"`{seen.names[-1]}`" if seen.names else "the held-out loader"
            told = f"; `{seen.differing}` is None here, `{seen.differing_to}` in training" if seen.differing else ""
            yield self.diagnose(
                headline=f"the inputs of {name} are about {seen.middles[1]:.3g} ± {held / 2:.2g}, in training "
                f"{seen.middles[0]:.3g} ± {train / 2:.2g}",
                confidence="likely",
                where=seen.built,
                label="not prepared as the training data are",
                also=(Also(location=seen.train_built, why="the loader of the training"),) if seen.train_built else (),
                culprit=Culprit(phase="data", tensor=name.strip("`"), field=seen.differing or None),
                evidence=(
                    f"eight tenths of the values of a batch span {held:.3g} here and {train:.3g} in training{told}",
                    "a model knows only the scale that it was trained on",
                ),
                remedies=(
                    Remedy(
                        title=f"give {name} the same `{seen.differing}`, with the figures of the training part"
                        if seen.differing
                        else f"prepare {name} as the training data, with the same mean and spread"
                    ),
                ),
            )


def _is_apart(seen: InputsApart) -> bool:
    """Of all values, and of the values of a single sample: a held-out part in order may be narrow as a whole."""
    both = (seen.spreads, seen.within)
    wider = all(held >= _LEAST_RATIO * train for train, held in both)
    narrower = all(train >= _LEAST_RATIO * held for train, held in both)
    return wider or narrower
