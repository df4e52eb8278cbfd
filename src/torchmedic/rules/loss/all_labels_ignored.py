"""Every label is the ignore index: the loss has nothing to learn from."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LossCall, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.loss._calls import CLASS_LOSSES, always, seen


class AllLabelsIgnored(Rule):
    """In every step looked at, all targets of a classification loss equal `ignore_index`."""

    code = "LOS012"
    name = "all-labels-ignored"
    symptoms = (Symptom.LOSS_ZERO, Symptom.LOSS_NAN, Symptom.LOSS_FLAT)
    tell_apart = "the target of the loss holds nothing but `ignore_index`"
    needs = (LossCall,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for call, times in always(run, CLASS_LOSSES, lambda c: c.ignored >= 1.0 and c.target.numel > 1):
            if times < 2:
                continue
            index = call.options.get("ignore_index", "-100")
            yield self.diagnose(
                headline=f"all labels in `{call.names[1]}` are {index}, which `{call.function}` ignores",
                confidence="proven",
                step=call.step,
                where=call.where,
                label=f"ignore_index={index} leaves no target",
                culprit=Culprit(op=call.function, phase="forward", tensor=call.names[1]),
                evidence=(f"{call.target.numel} labels per step, all {index}, in {seen(times)}",),
                remedies=(
                    Remedy(
                        title=f"look where `{call.names[1]}` is filled: the real labels are overwritten or shifted away"
                    ),
                    Remedy(title="choose an `ignore_index` that is no real class, such as -100"),
                ),
            )
