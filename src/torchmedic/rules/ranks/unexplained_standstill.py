"""A run that stands still, for a reason that its stack does not tell."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, Standing
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.ranks._standing import innermost, other_threads, since, stuck


class UnexplainedStandstill(Rule):
    """Nothing moves; all that can be said is where."""

    code = "RNK004"
    name = "unexplained-standstill"
    severity = "warning"
    symptoms = (Symptom.STUCK,)
    tell_apart = "nothing moves, and neither a lock, a loader nor a collective is in sight: the line is what is known"
    needs = (Standing,)
    fallback = True

    def check(self, run: Run) -> Iterator[Diagnosis]:
        standing = stuck(run)
        told = ("lock", "file-lock", "lock-file", "pipe")
        if standing is None or (standing.waits_for in told and standing.where is not None):
            return
        main = next((t.stack for t in standing.threads if t.is_main), ())
        yield self.diagnose(
            headline=f"the run stands still in {innermost(main)}",
            confidence="possible",
            where=standing.where,
            label="the main thread stands here",
            step=standing.step,
            culprit=Culprit(op=main[0].function if main else None),
            evidence=(since(standing), *other_threads(standing)),
            remedies=(
                Remedy(title="look at every thread with `torchmedic where PID` while it hangs"),
                Remedy(title="give the call a time-out, so that it fails with a traceback"),
            ),
        )
