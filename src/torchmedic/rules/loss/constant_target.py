"""A target that is the same number in every batch: there is nothing to learn, and the loss goes to 0."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LoaderSeen, LossCall, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.loss._calls import CLASS_LOSSES, always, seen

_DISTANCES = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
_LEAST_TIMES = 4
_LEAST_VALUES = 16


class ConstantTarget(Rule):
    """What the loss compares with has one value in all steps looked at, though it is taken from the data each time."""

    code = "LOS017"
    name = "constant-target"
    severity = "warning"
    symptoms = (Symptom.LOSS_ZERO, Symptom.SCORE_TOO_GOOD)
    tell_apart = "every target that was looked at, in several steps, is the same number"
    needs = (LossCall,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for call, times in always(run, (*_DISTANCES, *CLASS_LOSSES), _is_constant):
            values = {c.target.minimum for c in run.all(LossCall) if c.where == call.where}
            several_classes = call.function not in CLASS_LOSSES or call.given.shape[call.class_dim] > 1
            if times < _LEAST_TIMES or len(values) > 1 or not several_classes or not _is_data(run, call):
                continue
            yield self.diagnose(
                headline=f"the target `{call.names[1]}` is {call.target.minimum:g} in every sample looked at",
                confidence="proven",
                step=call.step,
                where=call.where,
                label="nothing to learn here",
                culprit=Culprit(op=call.function, phase="data", tensor=call.names[1]),
                evidence=(
                    f"so it was in {seen(times)}, with {call.target.numel} values each",
                    "one constant answer is right for all of them, so that the loss falls to 0",
                ),
                remedies=(
                    Remedy(
                        title=f"look at how `{call.names[1]}` is made: the column, the filter, or the generated data"
                    ),
                ),
            )


def _is_constant(call: LossCall) -> bool:
    low, high = call.target.minimum, call.target.maximum
    return low is not None and low == high and call.target.numel >= _LEAST_VALUES


def _is_data(run: Run, call: LossCall) -> bool:
    """Taken from the data, not written down as a constant (labels of a GAN, the right side of an equation)."""
    if call.target_picked or call.target_producer is not None:
        return call.target_picked
    loaders = [one for one in run.all(LoaderSeen) if one.trained]
    return bool(loaders) and all(one.labels == 1 and one.samples >= 64 for one in loaders)
