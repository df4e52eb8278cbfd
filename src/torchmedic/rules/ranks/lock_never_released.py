"""A main thread that waits for a lock, a queue or a thread that never comes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torchmedic.facts import Location, Run, Standing, ThreadDied, ThreadStand
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
        if standing is None or standing.waits_for not in ("lock", "pipe") or standing.where is None:
            return
        others = [t for t in standing.threads if not t.is_main and own_line(t.stack) is not None]
        died = run.last(ThreadDied)
        slots = {"step": standing.step, "culprit": Culprit(op=standing.call)}
        if standing.waits_for == "pipe":
            yield self._full_pipe(standing, slots)
        elif standing.taken_at is not None:
            yield self._held(standing, standing.where, standing.taken_at, slots)
        elif died is not None and died.where is not None and not others:
            yield self._waits_for_the_dead(standing, standing.where, died, slots)
        else:
            yield self._unknown(standing, others, slots)

    def _held(self, standing: Standing, where: Location, taken_at: Location, slots: dict[str, Any]) -> Diagnosis:
        main = next((t.name for t in standing.threads if t.is_main), "")
        holder = next((t for t in standing.threads if t.name == standing.taken_by and not t.is_main), None)
        itself = standing.taken_by == main
        at = own_line(holder.stack) if holder is not None else None
        stands = (Also(location=at, why=f"thread `{standing.taken_by}` stands here"),) if at is not None else ()
        return self.diagnose(
            headline="the main thread waits for a lock that it holds itself"
            if itself
            else f"the main thread waits for a lock that thread `{standing.taken_by}` holds",
            confidence="proven",
            where=where,
            label="waits here",
            also=(Also(location=taken_at, why="the lock was taken here"), *stands),
            evidence=(since(standing),),
            remedies=_TWICE if itself else _ORDER,
            **slots,
        )

    def _full_pipe(self, standing: Standing, slots: dict[str, Any]) -> Diagnosis:
        return self.diagnose(
            headline="the run waits for a child process that is blocked writing to a pipe which nobody reads",
            confidence="proven",
            where=standing.where,
            label="waits here for the end of the child",
            evidence=(since(standing), _FULL),
            remedies=(
                Remedy(title="read first, then wait: `p.communicate()` for a program, `queue.get()` before `join()`"),
            ),
            **slots,
        )

    def _waits_for_the_dead(
        self, standing: Standing, where: Location, died: ThreadDied, slots: dict[str, Any]
    ) -> Diagnosis:
        return self.diagnose(
            headline=f"thread `{died.name}`, which the main thread waits for, died of {died.type_name}",
            confidence="likely",
            where=died.where,
            label=f"`{died.message}`" if died.message else "",
            also=(Also(location=where, why="the main thread waits here"),),
            evidence=(since(standing), _ALONE),
            remedies=(
                Remedy(title="mend the line that the thread died on"),
                Remedy(title="hand the end on: `except Exception as error: batches.put(error)`, raised by the reader"),
            ),
            **slots,
        )

    def _unknown(self, standing: Standing, others: list[ThreadStand], slots: dict[str, Any]) -> Diagnosis:
        return self.diagnose(
            headline=f"the main thread waits in `{standing.call}` for something that no thread gives it",
            confidence="proven" if others else "likely",
            where=standing.where,
            label="waits here",
            also=tuple(
                Also(location=at, why=f"thread `{t.name}` stands here")
                for t in others[:3]
                if (at := own_line(t.stack)) is not None
            ),
            evidence=(since(standing), *(() if others else tuple(other_threads(standing)) or (_ALONE,))),
            remedies=_ORDER if _is_lock(standing) else _QUEUE,
            **slots,
        )


def _is_lock(standing: Standing) -> bool:
    return any(word in standing.call for word in ("acquire", "with", "lock"))


_FULL = "a pipe holds 64 KiB; what is put into a `multiprocessing.Queue` goes through one, and the child ends after it"
_ALONE = "no other thread of the script is alive, so nothing in this process can end the wait"
_TWICE = (
    Remedy(title="make it a `threading.RLock()`, which the thread that holds it may take again"),
    Remedy(title="or release the lock before calling what takes it"),
)
_ORDER = (
    Remedy(title="take locks in the same order in every thread, and release them with `with`"),
    Remedy(title="wait with a limit (`acquire(timeout=…)`), so that it fails loudly"),
)
_QUEUE = (
    Remedy(title="let the thread that gives say that it is done: put a last item (`None`) that ends the loop"),
    Remedy(title="wait with a limit (`get(timeout=…)`, `wait(timeout=…)`, `join(timeout=…)`), so that it fails loudly"),
)
