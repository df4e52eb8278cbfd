"""Parameters were frozen while the optimizer held them: their gradients are zeros, and decay moves them on."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import FrozenMoved, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import counted


class FrozenParametersMoving(Rule):
    """A step of the optimizer changed parameters that have `requires_grad=False`."""

    code = "WIR128"
    name = "frozen-parameters-moving"
    severity = "warning"
    symptoms = (Symptom.SCORE_LOW,)
    tell_apart = "frozen weights differ after a step, and their `.grad` is a tensor of zeros"
    needs = (FrozenMoved,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(FrozenMoved):
            by = f"weight_decay={seen.decay:g} and its momentum" if seen.decay else "its momentum"
            example = f": `{seen.parameters[0]}`" if seen.parameters else ""
            yield self.diagnose(
                headline=f"`{seen.optimizer}` moves {counted(seen.count, 'frozen parameter')}{example}",
                confidence="proven",
                step=seen.step,
                where=seen.where,
                label="leaves the old `.grad` where it is, and the parameter in the optimizer",
                culprit=Culprit(op=seen.optimizer, parameter=next(iter(seen.parameters), None), phase="optimizer"),
                evidence=(
                    f"`requires_grad` is False, `.grad` is a tensor and not None: {seen.optimizer} applies {by}",
                    *(("among them: " + ", ".join(f"`{name}`" for name in seen.parameters),) if example else ()),
                ),
                remedies=(
                    Remedy(title="set `p.grad = None` where `p` is frozen, and let `zero_grad` set gradients to None"),
                    Remedy(title="or build an optimizer of the parameters that still learn"),
                ),
            )
