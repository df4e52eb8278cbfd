"""An evaluation compares answers in the scale of the training with targets in another one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchmedic.facts import EvaluatedPair, LossCall, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also

_DISTANCES = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "-")
_LEAST_RATIO = 8.0
_LEAST_CALLS = 2
_LEAST_VALUES = 32
_MARGIN = 0.5

Range = tuple[float, float]


class ComparedInAnotherScale(Rule):
    """Targets were scaled for the training, and those of the evaluation were not, or the other way round."""

    code = "DAT220"
    name = "compared-in-another-scale"
    symptoms = (Symptom.SCORE_LOW,)
    tell_apart = (
        "the answers lie where the targets of the training lay, and the targets of the evaluation far from there"
    )
    needs = (EvaluatedPair, LossCall)
    folds = ("overfitted-model",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        losses = [seen for seen in run.all(LossCall) if seen.function in _DISTANCES]
        trained = _range(losses)
        if trained is None or len({str(seen.where) for seen in losses}) != 1:
            return
        for seen in run.all(EvaluatedPair):
            if seen.calls < _LEAST_CALLS or seen.values < _LEAST_VALUES:
                continue
            if seen.learned[0] == seen.learned[1]:
                continue  # which of them are the answers is not known: those of a collapsed model are narrow as well
            sides = (seen.first, seen.second) if seen.learned[0] else (seen.second, seen.first)
            if _is_apart(*sides, trained):
                yield self._diagnosis(seen, losses[0], *sides, trained, seen.names[1 if seen.learned[0] else 0])
                return

    def _diagnosis(
        self,
        seen: EvaluatedPair,
        loss: LossCall,
        answers: Sequence[float],
        targets: Sequence[float],
        trained: Range,
        name: str,
    ) -> Diagnosis:
        return self.diagnose(
            headline=f"targets lie between {targets[0]:.3g} and {targets[-1]:.3g} in evaluation, in training between "
            f"{trained[0]:.3g} and {trained[1]:.3g}",
            confidence="likely",
            where=seen.where,
            label=f"compares answers of the training's scale with `{name}` of another",
            also=also((seen.built, "the loader"), (loss.where, "the loss of the training"), where=seen.where),
            culprit=Culprit(op=seen.function, phase="data", tensor=name),
            evidence=(
                f"the answers lie between {answers[0]:.3g} and {answers[-1]:.3g}, as the model was taught",
                f"so it was in {seen.calls} calls looked at: the number that they give says nothing of the model",
            ),
            remedies=(
                Remedy(title="scale these targets as those of the training, with the same figures"),
                Remedy(
                    title="or turn the answers back before they are compared", detail="`scaler.inverse_transform(…)`"
                ),
            ),
        )


def _range(losses: list[LossCall]) -> Range | None:
    """Between which numbers the targets of the training lay."""
    lows = [seen.target.minimum for seen in losses if seen.target.minimum is not None]
    highs = [seen.target.maximum for seen in losses if seen.target.maximum is not None]
    if len(lows) < 2 or not min(lows) < max(highs):
        return None
    return min(lows), max(highs)


def _is_apart(answers: Sequence[float], targets: Sequence[float], trained: Range) -> bool:
    """Answers as in training, and targets that are many times as wide, or as narrow, and not where the answers are.

    >>> tenths = [i / 10 for i in range(11)]
    >>> _is_apart(tenths, [500 * t for t in tenths], (0.0, 1.0)), _is_apart(tenths, [3 * t for t in tenths], (0.0, 1.0))
    (True, False)
    """
    own = (targets[0], targets[-1])
    widths = trained[1] - trained[0], own[1] - own[0]
    if not min(widths) > 0 or not answers[0] < answers[-1] or _inside(answers, trained) < len(answers) - 2:
        return False
    if widths[1] >= _LEAST_RATIO * widths[0]:
        return _inside(targets, trained) <= 1
    return widths[0] >= _LEAST_RATIO * widths[1] and _inside(answers, own) <= 1


def _inside(values: Sequence[float], around: Range) -> int:
    room = _MARGIN * (around[1] - around[0])
    return sum(around[0] - room <= value <= around[1] + room for value in values)
