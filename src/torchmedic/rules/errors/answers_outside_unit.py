"""Values outside 0 to 1 where binary cross-entropy wants probabilities."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, Location, Run, TensorSummary
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._reading import also, built_at, crash_in, layer_in, said, short_type, tensors, user_line

_PATTERNS = (r"all elements of (?P<which>input|target) should be between 0 and 1",)


class AnswersOutsideUnit(Rule):
    """Scores of a last layer without sigmoid, or targets that are no probabilities, reach binary cross-entropy."""

    code = "ERR092"
    name = "answers-outside-unit"
    symptoms = (Symptom.CRASH,)
    tell_apart = "the message is `all elements of input should be between 0 and 1`, and the values are finite"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = crash_in(run)
        match = said(crash, *_PATTERNS)
        line = user_line(crash) if crash is not None else None
        if crash is None or match is None or line is None:
            return
        if any(t.nan or t.inf for frame in crash.frames for _, t in tensors(frame)):
            return  # that is the story
        given = dict(tensors(crash.frames[-1])).get(match["which"])
        if given is None or given.minimum is None:
            yield self._untold(line, match["which"])
        else:
            yield (
                self._of_answers(run, crash, line, given)
                if match["which"] == "input"
                else self._of_targets(line, given)
            )

    def _untold(self, line: Location, which: str) -> Diagnosis:
        return self.diagnose(
            headline=f"the {which} of binary cross-entropy has values outside 0 to 1",
            confidence="likely",
            where=line,
            culprit=Culprit(op="binary_cross_entropy", phase="forward", tensor=which),
            evidence=("their range is not known here; NaN is refused with the same words",),
            remedies=(Remedy(title="give scores to `binary_cross_entropy_with_logits`, and targets of 0 and 1"),),
        )

    def _of_answers(self, run: Run, crash: Crash, line: Location, given: TensorSummary) -> Diagnosis:
        layer = layer_in(crash)
        built = built_at(run, layer) if layer is not None and short_type(layer.type) == "BCELoss" else None
        where = built or line
        instead = "`nn.BCEWithLogitsLoss()`" if built is not None else "`binary_cross_entropy_with_logits`"
        return self.diagnose(
            headline=f"scores {_range(given)} where binary cross-entropy wants probabilities",
            confidence="proven",
            where=where,
            label="takes probabilities, from 0 to 1",
            also=also((line, "refused here"), but=where),
            culprit=Culprit(op="binary_cross_entropy", phase="forward", tensor="input"),
            evidence=(
                f"its input is {given}, {_range(given)}",
                "the last layer gives scores of any size; nothing turns them into probabilities",
            ),
            remedies=(
                Remedy(title=f"use {instead}, which takes the scores as they are"),
                Remedy(title="or put `torch.sigmoid` around them, once"),
            ),
        )

    def _of_targets(self, line: Location, given: TensorSummary) -> Diagnosis:
        return self.diagnose(
            headline=f"targets {_range(given)} where binary cross-entropy wants 0 to 1",
            confidence="proven",
            where=line,
            culprit=Culprit(op="binary_cross_entropy", phase="forward", tensor="target"),
            evidence=(f"the target is {given}, {_range(given)}",),
            remedies=(
                Remedy(title="bring the targets to 0 and 1 where they are read: divide by 255, or subtract 1"),
                Remedy(title="for several classes, use `cross_entropy`"),
            ),
        )


def _range(given: TensorSummary) -> str:
    return f"from {given.minimum:.4g} to {given.maximum:.4g}"
