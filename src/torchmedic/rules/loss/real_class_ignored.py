"""`ignore_index` is the number of a real class: the loss never asks for it, and the model never answers it."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import ClassIgnored, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom

_LEAST_SHARE = 0.05
_LEAST_CALLS = 2


class RealClassIgnored(Rule):
    """Labels are padded with the number of a real class, and the loss ignores that number wherever it stands."""

    code = "LOS140"
    name = "real-class-ignored"
    symptoms = (Symptom.SCORE_LOW, Symptom.LOSS_ZERO)
    tell_apart = "`ignore_index` is the number of a class that words have which are no padding"
    needs = (ClassIgnored,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        by_line: dict[str, list[ClassIgnored]] = {}
        for seen in run.all(ClassIgnored):
            by_line.setdefault(str(seen.where), []).append(seen)
        for calls in by_line.values():
            share = sum(call.ignored for call in calls) / sum(call.real for call in calls)
            if len(calls) >= _LEAST_CALLS and _LEAST_SHARE <= share < 1 and len({call.label for call in calls}) == 1:
                yield self._told(calls, share)

    def _told(self, calls: list[ClassIgnored], share: float) -> Diagnosis:
        first, percent = calls[0], f"{100 * share:.0f} %"
        where = first.built or first.where
        others = ((first.padded_at, f"fills up with {first.label}"), (first.where, "the loss"))
        return self.diagnose(
            headline=f"`ignore_index={first.label}` ignores class `{first.class_name}`: {percent} of the labels",
            confidence="proven",
            step=first.step,
            where=where,
            label=f"ignores the padding and `{first.class_name}` alike",
            also=tuple(Also(location=place, why=why) for place, why in others if place is not None and place != where),
            culprit=Culprit(op=first.function, phase="forward", tensor=first.target),
            evidence=(
                f"in {len(calls)} steps looked at, padding was labelled {first.label}, and so were {first.ignored} of "
                f"the {first.real} words in step {first.step} that are no padding",
                f"the script calls class {first.label} `{first.class_name}`: a model that is never asked for it "
                "answers the other classes in its place",
            ),
            remedies=(
                Remedy(title="pad the labels with -100 and leave `ignore_index` at its default, which is -100"),
                Remedy(title="or give padding a class of its own, as the words have a token of their own for it"),
            ),
        )
