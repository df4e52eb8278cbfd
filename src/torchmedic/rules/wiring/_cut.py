"""What the rules about cut graphs have in common."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import GraphCut, IdleTerm, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule
from torchmedic.rules.wiring._telling import also, counted, listed


def cuts(run: Run, *ways: str) -> Iterator[GraphCut]:
    """The cut of each kind that stands first on the way, one per optimizer and line."""
    cut = first_cut(run)
    if cut is not None and cut.how in ways:
        yield cut


def first_cut(run: Run) -> GraphCut | None:
    """The cut that stands first on the way to the parameters that have no gradient at all."""
    return next((cut for cut in run.all(GraphCut) if not cut.whole_term), None)


def of_terms_behind(cut: GraphCut | None, run: Run) -> tuple[str, ...]:
    """The rule about terms without a gradient, where this cut is what keeps it from every one of them."""
    if cut is None or not (cut.fresh or cut.whole_term):
        return ()
    lines = {(at.file, at.line) for at in (cut.where, cut.read, cut.rebuilt) if at is not None}
    terms = [{(at.file, at.line) for at in term.passed} for term in run.all(IdleTerm)]
    return ("term-without-model",) if terms and all(lines & passed for passed in terms) else ()


class CutRule(Rule):
    """A rule about a cut that keeps the gradient from some parameters."""

    folds = ("TRN",)

    def folds_in(self, run: Run) -> tuple[str, ...]:
        """The term that is behind the same line, and what was found of the term itself."""
        cut = first_cut(run)
        term = next((other for other in run.all(GraphCut) if other.whole_term), None)
        is_same = cut is not None and term is not None and cut.fresh and cut.where == term.where is not None
        return (*self.folds, *of_terms_behind(cut, run), *(("loss-term-without-gradient",) if is_same else ()))


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
