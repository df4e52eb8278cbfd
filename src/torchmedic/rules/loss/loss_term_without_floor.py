"""A term that falls below 0 without end and takes the whole loss with it: most often a sign the wrong way round."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import LossTerm, Run
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom

_LEAST_LOOKS = 4
_LEAST_GROWTH = 300.0
_LEAST_SIZE = 0.3


class LossTermWithoutFloor(Rule):
    """Always negative, hundreds of times as large as at the start and as the rest of the loss, and still falling."""

    code = "LOS064"
    name = "loss-term-without-floor"
    symptoms = (Symptom.LOSS_NEGATIVE, Symptom.LOSS_NOISY)
    tell_apart = "the loss falls further below 0 the longer it trains, while its other terms rise"
    needs = (LossTerm,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        for term in run.all(LossTerm):
            if len(term.values) < _LEAST_LOOKS or max(term.values) > 0 or not _runs_away(term):
                continue
            where = term.made or term.where
            yield self.diagnose(
                headline=f"`{term.name}` has no floor: it fell from {term.values[0]:.3g} to {term.values[-1]:.3g}",
                confidence="likely",
                step=term.steps[-1],
                where=where,
                label="negative in every step, and added to the loss",
                also=(Also(location=term.where, why="it becomes part of the loss here"),)
                if term.where is not None and term.where != where
                else (),
                culprit=Culprit(op=term.made_text or None, phase="forward", tensor=term.name),
                evidence=(
                    f"at steps {', '.join(map(str, term.steps))}: "
                    + ", ".join(f"{value:.3g}" for value in term.values),
                    f"the rest of the loss went from {term.others[0]:.3g} to {term.others[-1]:.3g} meanwhile: the "
                    f"training follows `{term.name}` alone",
                ),
                remedies=(
                    Remedy(title=f"look at the sign of `{term.name}`: a penalty such as the KL divergence is positive"),
                ),
            )


def _runs_away(term: LossTerm) -> bool:
    """The whole loss goes with it: two terms that drift apart and cancel (the critic of a GAN) are none."""
    falls = all(later <= earlier for earlier, later in zip(term.values[1:], term.values[2:], strict=False))
    last, other = term.values[-1], term.others[-1]
    started = max(abs(term.values[0]), 0.1 * abs(term.others[0]), _LEAST_SIZE)
    return falls and -last > _LEAST_GROWTH * started and other >= term.others[0] and last + other < 0.5 * last
