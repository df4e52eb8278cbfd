"""(N, 1) against (N,): every prediction is compared with every target."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import AccidentalBroadcast as Meeting
from torchmedic.facts import Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules._code import receiver
from torchmedic.rules.loss._calls import shown


class AccidentalBroadcast(Rule):
    """Prediction and target have the same elements in different shapes, and broadcasting makes all pairs."""

    code = "LOS009"
    name = "accidental-broadcast"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW, Symptom.MEMORY_GROWS)
    tell_apart = "the difference of prediction and target has N times as many elements as either"
    needs = (Meeting,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for meeting in run.all(Meeting):
            if meeting.op == "eq":
                continue  # no loss: a score
            (first, second), (one, two) = meeting.names, meeting.shapes
            long_name, long_shape = (first, one) if len(one) > len(two) else (second, two)
            short_name = second if long_name == first else first
            yield self.diagnose(
                headline=f"`{first}` {shown(one)} and `{second}` {shown(two)} broadcast to {shown(meeting.result)}",
                confidence="proven",
                step=meeting.step,
                where=meeting.where,
                mark=meeting.expression,
                label="compares every prediction with every target",
                culprit=Culprit(op=meeting.op, phase="forward", tensor=first),
                evidence=(
                    f"the shapes differ by dimensions of size 1 only, so each of `{first}` was meant to meet one of "
                    f"`{second}`",
                    "the least such loss is reached when every prediction is the mean of the targets",
                ),
                remedies=(
                    Remedy(title=f"make the shapes equal: `{receiver(long_name)}.squeeze({_extra(long_shape)})`"),
                    Remedy(title=f"or `{receiver(short_name)}.unsqueeze({_extra(long_shape)})`"),
                ),
            )


def _extra(shape: tuple[int, ...]) -> int:
    """The last dimension of size 1."""
    return max((i for i, n in enumerate(shape) if n == 1), default=len(shape) - 1)
