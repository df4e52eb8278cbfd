"""A network whose first answers are enormous because one line multiplies them up."""

from __future__ import annotations

import math
from collections.abc import Iterator

from torchmedic.facts import Amplification, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.numerics._explosions import drawn_gain, exploding_line
from torchmedic.rules.numerics._reading import fitted, number, short
from torchmedic.rules.wiring._telling import also

_LARGE = 1.6


class ExplodingInitialisation(Rule):
    """The weights are drawn too large: values grow from call to call before anything is learned."""

    code = "NUM040"
    name = "exploding-initialisation"
    symptoms = (Symptom.LOSS_NOISY, Symptom.LOSS_NAN, Symptom.WEIGHTS_NAN)
    tell_apart = "the very first losses are a hundred thousand times that of a constant answer, and finite"
    needs = (Amplification,)
    folds = ("TRN", "NUM")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        seen = exploding_line(run)
        if seen is None or (seen.weights > 1 and drawn_gain(seen) < _LARGE):
            return
        where = seen.written or seen.where
        drawn = f"`{seen.weight}` is {list(seen.shape)} with a standard deviation of {number(seen.spread)}"
        yield self.diagnose(
            headline=_headline(seen),
            confidence="likely",
            step=seen.step,
            where=where,
            label=f"`{seen.weight}` gets its values here" if seen.written and seen.weight else "values grow here",
            also=also((seen.where, "values grow here"), where=where),
            culprit=Culprit(phase="forward", tensor=seen.weight or None, parameter=seen.weight or None),
            evidence=(
                f"`{short(seen.expression, 60)}` takes values from {number(seen.before)} to {number(seen.after)} in "
                "the first step, before any update",
                *((drawn + (f", set by `{seen.how}`" if seen.how else ""),) if seen.weight else ()),
                *((_per_layer(seen),) if seen.weights > 1 else ()),
                *((f"the first loss is {number(seen.loss)}",) if seen.loss is not None else ()),
            ),
            remedies=tuple(_remedies(seen)),
        )


def _per_layer(seen: Amplification) -> str:
    each = seen.gain ** (1 / seen.calls)
    return f"it is one of {seen.weights} weights set there: values grow about {number(each)}-fold from layer to layer"


def _headline(seen: Amplification) -> str:
    if seen.weights > 1:
        set_by = f" set by `{seen.how}`" if seen.how else ""
        return f"{seen.weights} weights{set_by} enlarge values {number(seen.gain)}-fold before anything is learned"
    over = f" over {seen.calls} calls" if seen.calls > 1 else ""
    name = f"`{seen.weight}`" if seen.weight else f"`{short(seen.expression)}`"
    return fitted(
        f"{name} enlarges values {number(seen.gain)}-fold{over} before anything is learned",
        f"values grow {number(seen.gain)}-fold{over} before anything is learned",
    )


def _remedies(seen: Amplification) -> Iterator[Remedy]:
    if seen.weight and len(seen.shape) > 1 and seen.weights > 1 and seen.how:
        kept = number((2 / math.prod(seen.shape[1:])) ** 0.5)
        yield Remedy(
            title="scale each weight by the number of its inputs: `nn.init.kaiming_normal_(weight)`",
            detail=f"a standard deviation of {kept} keeps the scale behind `{seen.weight}`",
        )
        yield Remedy(title="or leave the weights as torch draws them")
    elif seen.weight and len(seen.shape) > 1 and seen.calls > 1:
        fan = seen.shape[-1]
        yield Remedy(title=f"draw `{seen.weight}` smaller: a standard deviation of {number(fan**-0.5)} keeps the scale")
        yield Remedy(title=f"or orthogonal: `nn.init.orthogonal_({seen.weight})`")
    elif seen.weight:
        yield Remedy(title=f"leave `{seen.weight}` as torch draws it, or scale it by the number of its inputs")
    yield Remedy(title="or normalise between the calls (`nn.LayerNorm`), or use a bounded function such as tanh")
