"""A model that is shown the same thing for every sample of a batch."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import InputSeen, LossPairing, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom

_LEAST = 3


class IdenticalInputs(Rule):
    """All samples of every batch looked at are equal when they reach the first layer, and the targets differ."""

    code = "DAT050"
    name = "identical-inputs"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "the rows that the first layer is given are all equal, so that the loss cannot depend on the input"
    needs = (InputSeen, LossPairing)
    folds = ("answers-unrelated-to-targets", "TRN")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        shown = list(run.all(InputSeen))
        pairings = list(run.all(LossPairing))
        if len(shown) < _LEAST or not all(seen.same for seen in shown) or not _is_blind(pairings):
            return
        first = shown[0]
        yield self.diagnose(
            headline=f"all {first.shape[0]} samples of a batch are the same to the model",
            confidence="proven",
            step=first.step,
            where=first.called,
            label=f"`{first.expression}` is given equal rows",
            also=(Also(location=first.layer_built, why=f"the first layer, `{first.layer}`"),)
            if first.layer_built
            else (),
            culprit=Culprit(op=first.op, phase="data", tensor=first.expression),
            evidence=(
                f"so it was in all {len(shown)} steps looked at; the input has shape {first.shape}",
                "the answers are the same for all samples, while their targets differ",
            ),
            remedies=(Remedy(title=f"look at what `{first.expression}` is given: the data are lost before it"),),
        )


def _is_blind(pairings: list[LossPairing]) -> bool:
    """The answers do not differ within a batch, and the targets do."""
    return bool(pairings) and all(p.spread == 0 and p.varied for p in pairings)
