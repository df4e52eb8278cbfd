"""Targets that are put into an order of their own before the loss, so that every answer meets another sample's."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LossPairing, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.loss._calls import seen as times_seen
from torchmedic.rules.loss._pairing import by_line, gain

_LEAST = 3


class TargetsInAnotherOrder(Rule):
    """In every step looked at, the targets were picked by an order that the answers were not computed with."""

    code = "LOS030"
    name = "targets-in-another-order"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "the targets are indexed by a permutation that nothing on the way to the answers uses"
    needs = (LossPairing,)
    folds = ("answers-unrelated-to-targets", "TRN")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for pairings in by_line(run):
            first = pairings[0]
            if len(pairings) < _LEAST or any(p.permuted is None or not p.varied for p in pairings):
                continue
            yield self.diagnose(
                headline=f"the targets `{first.names[1]}` stand in another order than the answers",
                confidence="proven",
                step=first.step,
                where=first.permuted,
                label=f"`{first.permuted_text}` moves targets, and nothing moves the inputs",
                culprit=Culprit(op=first.function, phase="data", tensor=first.names[1]),
                evidence=(
                    f"so it was in {times_seen(len(pairings))}: only the targets use this order",
                    f"with the answers for other samples the loss changes by {100 * gain(pairings):+.1f} %",
                ),
                remedies=(
                    Remedy(title="index inputs and targets with the same permutation"),
                    Remedy(title=f"or leave `{first.names[1]}` in the order of the batch"),
                ),
            )
