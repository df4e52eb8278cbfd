"""The softmax runs along another dimension than the choices: often `dim=0`, right for one state, wrong for a batch."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import PickedAcross, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.loss._calls import made_by, shown
from torchmedic.rules.wiring._telling import also, repeated


class SoftmaxAcrossChoices(Rule):
    """The score of the choice made is picked along one dimension, and the scores add up to 1 along another."""

    code = "LOS074"
    name = "softmax-across-choices"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_NEGATIVE, Symptom.LOSS_FLAT)
    tell_apart = "the probabilities of one state's actions do not add up to 1, those of a batch for one action do"
    needs = (PickedAcross,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        across = (seen for seen in run.all(PickedAcross) if _tells_dimensions_apart(seen))
        for found in repeated(across, key=lambda seen: (seen.softmax.to_edit, seen.picked_at)):
            yield self._diagnosis(found[0])

    def _diagnosis(self, seen: PickedAcross) -> Diagnosis:
        softmax = seen.softmax
        where = softmax.layer_built if softmax.layer and softmax.layer_built else softmax.to_edit
        rows, choices = seen.shape[seen.dim], seen.shape[seen.picked_dim]
        over = f"the {rows} samples of the batch" if seen.dim == 0 else f"the {rows} positions of dimension {seen.dim}"
        name = f"nn.{softmax.layer}" if softmax.layer else softmax.op
        return self.diagnose(
            headline=f"`{name}` runs over {over} (dim={seen.dim}), not over the {choices} choices",
            confidence="proven",
            step=seen.step,
            where=where,
            label=f"dim={softmax.dim if softmax.dim is not None else seen.dim}",
            also=also(
                (seen.picked_at, f"picks one of {choices} in each row, along dim={seen.picked_dim}"), where=where
            ),
            culprit=Culprit(op=softmax.op, phase="forward"),
            evidence=(
                f"`{made_by(softmax)}` made {shown(seen.shape)}, which sums to 1 along dim={seen.dim}",
                f"the choice is picked along dim={seen.picked_dim}: a row's probabilities do not add up to 1",
            ),
            remedies=(
                Remedy(title=f"use `dim=-1` in the {softmax.op}: it is right for one sample and for a batch")
                if seen.picked_dim == len(seen.shape) - 1
                else Remedy(title=f"use `dim={seen.picked_dim}` in the {softmax.op}"),
            ),
        )


def _tells_dimensions_apart(seen: PickedAcross) -> bool:
    """Not a square of pairs, which two losses may read by rows and by columns on purpose."""
    rows, choices = seen.shape[seen.dim], seen.shape[seen.picked_dim]
    return min(rows, choices) > 1 and rows != choices
