"""What the rules about cut graphs have in common."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import GraphCut, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule
from torchmedic.rules.wiring._telling import also, counted, listed


def cuts(run: Run, *ways: str) -> Iterator[GraphCut]:
    """The cut of each kind that stands first on the way, one per optimizer and line."""
    found = [cut for cut in run.all(GraphCut) if not cut.whole_term]
    if found and found[0].how in ways:
        yield found[0]


def cut_diagnosis(rule: Rule, cut: GraphCut, *, headline: str, label: str, cures: tuple[Remedy, ...]) -> Diagnosis:
    """A cut told: the line that cuts, the parameters behind it, where the value came back."""
    names = listed(cut.parameters)
    severity = "error" if cut.fresh else "hint"
    return rule.diagnose(
        headline=headline,
        severity=severity,
        confidence="proven" if cut.fresh else "possible",
        step=cut.step,
        where=cut.where,
        mark=cut.expression,
        label=label,
        also=also(
            (cut.rebuilt, "a new tensor without history is made here"),
            (cut.read, "used from here on as a constant"),
            (cut.backward, "backward from here reaches none of them"),
            where=cut.where,
        )[:2],
        culprit=Culprit(op=cut.op, parameter=cut.parameters[0], tensor=cut.expression or None, phase="forward"),
        evidence=(
            f"{counted(cut.parameter_count, 'parameter')} of the optimizer had no gradient in any of the first "
            f"{cut.watched_steps} steps: {names}",
            "the loss of the traced step is computed from them, and this is where the way back ends",
        ),
        remedies=cures,
    )
