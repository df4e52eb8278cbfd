"""An activation at the end of the model that can never put out what the targets ask for."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LossCall, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.loss._calls import always, loss_line, made_by, seen

_FUNCTIONS = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "-")
_LEAST_SHARE = 0.1


class UnreachableTargets(Rule):
    """A tenth or more of the targets lie outside the range of the function that makes the prediction."""

    code = "LOS010"
    name = "unreachable-targets"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "the last call before a regression loss is an activation whose range does not hold the targets"
    needs = (LossCall,)
    folds = ("dead-activation",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for call, times in always(run, _FUNCTIONS, lambda c: c.reach is not None and c.outside >= _LEAST_SHARE):
            producer, reach = call.producer, call.reach
            if producer is None or reach is None or times < 2:
                continue
            yield self.diagnose(
                headline=f"the model ends in `{producer.op}`, which cannot reach {call.outside:.0%} of the targets",
                confidence="proven",
                step=call.step,
                where=producer.to_edit,
                mark=f"nn.{producer.layer}()" if producer.layer else producer.expression,
                label=f"puts out {_range(reach)} only",
                also=loss_line(call, f"compared with `{call.names[1]}` here"),
                culprit=Culprit(op=producer.op, phase="forward", tensor=call.names[0], module=producer.layer or None),
                evidence=(
                    f"`{call.names[1]}` is in [{call.target.minimum:.3g}, {call.target.maximum:.3g}]; so it was in "
                    f"{seen(times)}",
                    f"`{made_by(producer)}` made `{call.names[0]}`"
                    + ("; a unit that it holds at 0 gets no gradient and stays there" if producer.op == "relu" else ""),
                ),
                remedies=(
                    Remedy(title=f"leave the last layer linear: remove `{producer.op}` after it"),
                    Remedy(title=f"or scale the targets into {_range(reach)}"),
                ),
            )


def _range(reach: tuple[float, float]) -> str:
    low, high = ("" if abs(v) == float("inf") else f"{v:g}" for v in reach)
    return f"[{low}, {high}]" if low and high else f"{low} and above" if low else f"{high} and below"
