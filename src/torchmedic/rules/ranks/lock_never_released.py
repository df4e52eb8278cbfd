"""A main thread that waits for a lock, a queue or a thread that never comes."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, Standing
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.ranks._standing import other_threads, own_line, since, stuck


class LockNeverReleased(Rule):
    """Everything in the process sleeps, and the main thread sleeps in a lock, a queue or a `join`."""

    code = "RNK003"
    name = "lock-never-released"
    symptoms = (Symptom.STUCK,)
    tell_apart = "the main thread waits in `acquire`, `get`, `wait` or `join`, and no thread of the process moves"
    needs = (Standing,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        standing = stuck(run)
        if standing is None or standing.waits_for != "lock" or standing.where is None:
            return
        others = [t for t in standing.threads if not t.is_main and own_line(t.stack) is not None]
        yield self.diagnose(
            headline=f"the main thread waits in `{standing.call}` for something that no thread gives it",
            confidence="proven" if others else "likely",
            where=standing.where,
            label="waits here",
            step=standing.step,
            also=tuple(
                Also(location=at, why=f"thread `{t.name}` stands here")
                for t in others[:3]
                if (at := own_line(t.stack)) is not None
            ),
            culprit=Culprit(op=standing.call),
            evidence=(since(standing), *(() if others else tuple(other_threads(standing)) or (_ALONE,))),
            remedies=(
                Remedy(title="take locks in the same order in every thread, and release them with `with`"),
                Remedy(title="wait with a limit (`acquire(timeout=…)`, `get(timeout=…)`), so that it fails loudly"),
            ),
        )


_ALONE = "no other thread of the script is alive, so nothing in this process can end the wait"
