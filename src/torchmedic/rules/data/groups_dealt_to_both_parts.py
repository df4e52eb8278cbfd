"""A random split deals the samples of one person, recording or device to training and to test."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import GroupsDealt, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.wiring._telling import also

_MOST_OF_THEM = 0.5


class GroupsDealtToBothParts(Rule):
    """The test asks about people who were trained on, and what is asked is the same for all samples of a person."""

    code = "DAT081"
    name = "groups-dealt-to-both-parts"
    severity = "warning"
    symptoms = (Symptom.SCORE_TOO_GOOD,)
    tell_apart = "test samples come from people or recordings trained on, each of which has one label"
    needs = (GroupsDealt,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for seen in run.all(GroupsDealt):
            if seen.shared > _MOST_OF_THEM * seen.groups:
                yield self._diagnosis(seen)
                return

    def _diagnosis(self, seen: GroupsDealt) -> Diagnosis:
        part = f"`{seen.names[0]}`" if seen.names else "the test part"
        where = seen.split or seen.made
        return self.diagnose(
            headline=f"{seen.shared} of the {seen.groups} `{seen.attribute}` in {part} are trained on too",
            confidence="likely",
            step=seen.step,
            where=where,
            label="deals samples, not groups",
            also=also((seen.made, f"`{seen.attribute}` says whose each sample is"), where=where),
            culprit=Culprit(phase="data", field=seen.attribute, rows=seen.samples),
            evidence=(
                f"`{seen.label}` is the same for all samples of one of `{seen.attribute}`: to know whose a sample is, "
                "is to know the answer",
                f"the {seen.samples} test samples measure how well they are recognised, not how new ones fare",
            ),
            remedies=(
                Remedy(title=f"split by group, so that each of `{seen.attribute}` is on one side only"),
                Remedy(title=f"`GroupShuffleSplit().split(x, groups={_owners(seen)})` of scikit-learn does so"),
            ),
        )


def _owners(seen: GroupsDealt) -> str:
    return f"{seen.table}[{seen.attribute!r}]" if seen.table else f"dataset.{seen.attribute}"
