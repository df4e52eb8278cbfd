"""A DataLoader worker that stands still while the training waits for its batch."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Run, Standing, WorkerStand
from torchmedic.findings import Also, Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.ranks._standing import innermost, own_line, since, stuck, taken_elsewhere


class StuckWorker(Rule):
    """The main thread waits for a batch, and a worker has been on one line ever since."""

    code = "RNK001"
    name = "stuck-worker"
    symptoms = (Symptom.STUCK,)
    tell_apart = "the main thread waits for a batch; the worker's own stack shows the line it stands on"
    needs = (Standing,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        standing = stuck(run)
        if standing is None or standing.waits_for != "loader":
            return
        held = [w for w in standing.workers if w.state != "Z" and own_line(w.stack) is not None]
        if not held:
            return
        worker = held[0]
        where = own_line(worker.stack)
        assert where is not None
        waits = (Also(location=standing.where, why="the training waits here for a batch"),) if standing.where else ()
        stand = "stands" if len(held) == 1 else "stand"
        yield self.diagnose(
            headline=f"{len(held)} of {len(standing.workers)} DataLoader workers {stand} still in `{where.function}`",
            confidence="proven",
            where=where,
            label="a worker of the DataLoader stands here",
            step=standing.step,
            also=(*waits, *taken_elsewhere(standing)),
            culprit=Culprit(phase="data", op=where.function),
            evidence=tuple(_evidence(standing, worker)),
            remedies=_remedies(standing, worker),
        )


def _evidence(standing: Standing, worker: WorkerStand) -> Iterator[str]:
    yield since(standing)
    yield f"the worker does not use the processor; its innermost call is {innermost(worker.stack)}"
    if standing.taken_at is not None:
        yield "a lock that another thread holds when workers are forked is copied locked, and nobody there opens it"
    elif _waits_for_lock(worker):
        yield "it waits for a lock that nobody gives back, or that was held, and copied locked, when it was forked"


def _waits_for_lock(worker: WorkerStand) -> bool:
    """Whether the line, or the function it stands in, takes a lock."""
    where = own_line(worker.stack)
    words = f"{where.source if where else ''} {worker.stack[0].function} {worker.stack[0].source}".lower()
    return any(word in words for word in ("lock", "acquire", "semaphore", "mutex"))


def _remedies(standing: Standing, worker: WorkerStand) -> tuple[Remedy, ...]:
    if _waits_for_lock(worker):
        again = Remedy(
            title="give back what the line takes, whatever happens: `with lock:` or `finally: lock.release()`"
        )
        return (
            *((again,) if standing.taken_at is None else ()),
            Remedy(title="make the lock inside the worker (in `worker_init_fn` or at the first `__getitem__`)"),
            Remedy(title="start workers without a fork: `DataLoader(..., multiprocessing_context='spawn')`"),
            Remedy(title="create the DataLoader's iterator before any thread takes the lock"),
        )
    return (
        Remedy(title="run with `num_workers=0` to see the same line hang or fail in the main process"),
        Remedy(title="give the loader a limit, so that it fails instead: `DataLoader(..., timeout=60)`"),
    )
