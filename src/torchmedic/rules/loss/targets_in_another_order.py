"""Targets that are put into an order of their own before the loss, so that every answer meets another sample's."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LossPairing, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.loss._calls import seen as times_seen
from torchmedic.rules.loss._pairing import by_line, gain

_LEAST = 3
_MOST_GAIN = 0.1  # answers that fit their own targets so much better than others' stand where they should


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
            if len(pairings) < _LEAST or not all(p.varied for p in pairings) or gain(pairings) > _MOST_GAIN:
                continue
            if all(p.permuted is not None for p in pairings):
                yield self._permuted(pairings)
            elif all(_is_turned(p) for p in pairings if not _is_square(p)) and not all(map(_is_square, pairings)):
                yield self._unrolled(pairings)

    def _permuted(self, pairings: list[LossPairing]) -> Diagnosis:
        first = pairings[0]
        return self.diagnose(
            headline=f"the targets `{first.names[1]}` stand in another order than the answers",
            confidence="proven",
            step=first.step,
            where=first.permuted,
            label=f"`{first.permuted_text}` moves targets, and the inputs do not move with them",
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

    def _unrolled(self, pairings: list[LossPairing]) -> Diagnosis:
        first = next(p for p in pairings if _is_turned(p))
        assert first.unrolled is not None
        given, target = first.unrolled
        return self.diagnose(
            headline=f"the targets `{first.names[1]}` are laid out in another order than the answers",
            confidence="proven",
            step=first.step,
            where=first.unrolled_at or first.where,
            label=f"targets of shape {target} flattened beside answers of shape {given}",
            culprit=Culprit(op=first.function, phase="forward", tensor=first.names[1]),
            evidence=(
                f"the first two dimensions are swapped: row 1 of the answers is of place (0, 1) of {given[:2]}, "
                f"row 1 of the targets of place (0, 1) of {target[:2]}",
                f"with the answers for other samples the loss changes by {100 * gain(pairings):+.1f} %",
            ),
            remedies=(
                Remedy(
                    title="bring both to the same order first: `.transpose(0, 1)` before one of the two is flattened"
                ),
                Remedy(title="or use `batch_first=True` for layers and padding alike"),
            ),
        )


def _is_turned(seen: LossPairing) -> bool:
    """Whether answers (A, B, …) and targets (B, A) were laid into rows as they are."""
    if seen.unrolled is None or _is_square(seen):
        return False
    given, target = seen.unrolled
    return given[:2] == target[1::-1]


def _is_square(seen: LossPairing) -> bool:
    """Whether both dimensions are of the same size, or one is 1, so that their order does not show or matter."""
    return seen.unrolled is not None and (len(set(seen.unrolled[0][:2])) == 1 or 1 in seen.unrolled[0][:2])
