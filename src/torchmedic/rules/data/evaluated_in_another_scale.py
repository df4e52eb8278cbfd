"""The inputs of evaluation have another scale than those of training: one of the two was not prepared."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchmedic.facts import InputsApart, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom

_LEAST_RATIO = 3.0
_LEAST_VALUES = 500
_MOST_NAMED = 2
# Where a step is missing that is named for a scale, less will do: of pixels from -1 to 1 and from 0 to 1, twice.
_LEAST_RATIO_OF_STEP = 1.5
_SCALES = re.compile(r"norm|standard|scale|whiten", re.IGNORECASE)
_AUGMENTS = re.compile(
    r"random|jitter|crop|flip|shift|rotat|eras|cutout|mixup|aug|noise|dropout|affine|blur|resize", re.IGNORECASE
)


class EvaluatedInAnotherScale(Rule):
    """The spread of the values differs several times between the loader that is trained on and the held-out one."""

    code = "DAT071"
    name = "evaluated-in-another-scale"
    symptoms = (Symptom.SCORE_LOW,)
    tell_apart = "the inputs of the held-out loader are several times as wide, or as narrow, as the ones trained on"
    needs = (InputsApart,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(InputsApart):
            if seen.values < _LEAST_VALUES or not min(*seen.spreads, *seen.within) > 0 or not _is_apart(seen):
                continue
            yield self._told(seen)

    def _told(self, seen: InputsApart) -> Diagnosis:
        train, held = seen.spreads
        name = f"`{seen.names[-1]}`" if seen.names else "the held-out loader"
        told = f"; `{seen.differing}` is None here, `{seen.differing_to}` in training" if seen.differing else ""
        lacking, surplus = _steps(seen)
        is_surplus = bool(surplus) and not lacking
        named = " and ".join(f"`{step}`" for step in lacking or surplus)
        composed = seen.composed[0 if is_surplus else 1] if named else None
        where = composed or (seen.train_built if is_surplus else seen.built)
        label = f"lacks {named}, which {'the evaluation' if is_surplus else 'the training'} has"
        others = ((seen.train_built, "the loader of the training"), (seen.built, "the loader of the evaluation"))
        return self.diagnose(
            headline=f"the inputs of {name} are about {seen.middles[1]:.3g} ± {held / 2:.2g}, in training "
            f"{seen.middles[0]:.3g} ± {train / 2:.2g}",
            confidence="likely",
            where=where,
            label=label if named else "not prepared as the training data are",
            also=tuple(Also(location=at, why=why) for at, why in others if at and where and at.line != where.line),
            culprit=Culprit(phase="data", tensor=name.strip("`"), field=seen.differing or seen.prepared_by or None),
            evidence=(
                f"eight tenths of the values of a batch span {held:.3g} here and {train:.3g} in training{told}",
                "a model knows only the scale that it was trained on",
                *(_composition(seen) if named else ()),
            ),
            remedies=(_cure(seen, name, named, is_surplus),),
        )


def _cure(seen: InputsApart, name: str, named: str, is_surplus: bool) -> Remedy:
    if named and is_surplus:
        return Remedy(title=f"apply {named} in training as well, with the figures of its own data")
    if named:
        return Remedy(title=f"apply {named} to {name} as well, with the figures of the training part")
    if seen.differing:
        return Remedy(title=f"give {name} the same `{seen.differing}`, with the figures of the training part")
    return Remedy(title=f"prepare {name} as the training data, with the same mean and spread")


def _composition(seen: InputsApart) -> Iterator[str]:
    train, held = (", ".join(steps) for steps in seen.steps)
    yield f"`{seen.prepared_by}` is `{held}` here, `{train}` in training"


def _steps(seen: InputsApart) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The steps that only the training has, and those that only the evaluation has; augmentation is for training."""
    train, held = ([s for s in steps if s[:1].isalpha() and not _AUGMENTS.search(s)] for steps in seen.steps)
    return tuple(s for s in train if s not in held)[:_MOST_NAMED], tuple(s for s in held if s not in train)[
        :_MOST_NAMED
    ]


def _is_apart(seen: InputsApart) -> bool:
    """Of all values, and of the values of a single sample: a held-out part in order may be narrow as a whole."""
    both = (seen.spreads, seen.within)
    is_scale = any(_SCALES.search(step) for steps in _steps(seen) for step in steps)
    least = _LEAST_RATIO_OF_STEP if is_scale else _LEAST_RATIO
    wider = all(held >= least * train for train, held in both)
    narrower = all(train >= least * held for train, held in both)
    return wider or narrower
