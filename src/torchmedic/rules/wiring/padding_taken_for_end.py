"""The answer is read at the last place of padded sequences, far behind their own end."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import PaddingRead, Run, TrainingCourse
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.training._course import learned_nothing

_LEAST_STEPS = 3


class PaddingTakenForEnd(Rule):
    """Most sequences end in padding where the model reads its answer, and nothing was learned."""

    code = "WIR089"
    name = "padding-taken-for-end"
    symptoms = (Symptom.LOSS_FLAT, Symptom.SCORE_LOW)
    tell_apart = "the place that the answer is read from holds the padding token in most samples"
    needs = (PaddingRead, TrainingCourse)
    folds = ("TRN", "answers-unrelated-to-targets")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        found, course = list(run.all(PaddingRead)), run.first(TrainingCourse)
        # Many a model learns through the padding all the same.
        is_stuck = course is not None and learned_nothing(run, course, first=10)
        if len({seen.step for seen in found}) < _LEAST_STEPS or not is_stuck:
            return
        seen = found[-1]
        yield self.diagnose(
            headline=f"the last of {seen.length} places is padding in {seen.padded} of {seen.rows} sequences",
            confidence="likely",
            step=seen.step,
            where=seen.where,
            mark=seen.expression,
            label="the answer is read here, behind the end",
            culprit=Culprit(op="getitem", phase="forward", tensor=seen.expression),
            evidence=(
                f"on average {seen.behind:.1f} places with token {seen.padding} lie between the end of a sequence and "
                f"the place that is read; what the model knew at the end has faded there",
                "the loss has not fallen",
            ),
            remedies=(
                Remedy(title="read each sequence at its own end: `states[torch.arange(len(states)), lengths - 1]`"),
                Remedy(title="or pack the sequences (`pack_padded_sequence`) and use the last hidden state"),
            ),
        )
