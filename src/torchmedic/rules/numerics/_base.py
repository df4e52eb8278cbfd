"""What rules about non-finite numbers share: one of them speaks per sick step, and all tell the same things."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from torchmedic.facts import Location, Run, SickStep
from torchmedic.findings import Also, Confidence, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.numerics._case import Case
from torchmedic.rules.numerics._reading import common_evidence, ruled_out, sample_of, tried, tried_on_line


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """What a rule adds to the facts that all of them tell.

    `tries` are the suspects whose trials are cures of this very cause.
    """

    headline: str
    where: Location | None
    mark: str = ""
    label: str = ""
    confidence: Confidence = "proven"
    notes: tuple[str, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    also: tuple[Also, ...] = ()
    tensor: str | None = None
    field: str | None = None
    parameter: str | None = None
    tries: tuple[str, ...] | None = None
    examples: tuple[str, ...] = ()
    rows: int | None = None


class NumericsRule(Rule):
    """A cause of non-finite numbers. Of all that could explain a step, the one of lowest `rank` speaks."""

    symptoms: ClassVar[tuple[Symptom, ...]] = (Symptom.LOSS_NAN, Symptom.WEIGHTS_NAN)
    needs = (SickStep,)
    folds: ClassVar[tuple[str, ...]] = ("ERR",)
    rank: ClassVar[int]

    def explain(self, case: Case) -> Explanation | None:
        """What happened, if this is it."""
        raise NotImplementedError(f"{type(self).__name__} has no explain")

    def check(self, run: Run) -> Iterator[Diagnosis]:
        case = Case.of(run)
        if case is None:
            return
        mine = self.explain(case)
        if mine is None or any(rule.explain(case) for rule in self._better()):
            return
        yield self._diagnosis(case, mine)

    def _better(self) -> Iterator[NumericsRule]:
        """Rules that know more where both fit."""
        mine = (self.rank, self.code)
        return (kind() for kind in NumericsRule.__subclasses__() if (kind.rank, kind.code) < mine)

    def _diagnosis(self, case: Case, mine: Explanation) -> Diagnosis:
        op, source = case.origin.op if case.origin else None, case.source
        return self.diagnose(
            headline=mine.headline,
            confidence=mine.confidence,
            step=case.sick.step,
            where=mine.where,
            mark=mine.mark,
            label=mine.label,
            also=_distinct(mine.also, mine.where),
            culprit=Culprit(
                op=op.op if op else None,
                phase="data" if source is not None and source.origin != "parameter" else op.phase if op else None,
                tensor=mine.tensor,
                field=mine.field,
                sample=source.sample if source else sample_of(case),
                index=op.index or None if op else None,
                parameter=mine.parameter,
                module=(op.module or None) if op else None,
                rows=mine.rows,
                examples=mine.examples,
            ),
            evidence=(*mine.notes, *common_evidence(case)),
            ruled_out=tuple(ruled_out(case)),
            remedies=(*tried_on_line(case), *tried(case, mine.tries), *mine.remedies),
        )


def _distinct(also: tuple[Also, ...], where: Location | None) -> tuple[Also, ...]:
    """Second places that are not the first one."""
    here = (where.file, where.line) if where else None
    return tuple(a for a in also if (a.location.file, a.location.line) != here)
