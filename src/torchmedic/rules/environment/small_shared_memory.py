"""Shared memory that is too small for what DataLoader workers pass through it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchmedic.facts import Crash, Environment, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.environment._crashes import links, quoted, size, user_line

_SIGNS = re.compile(
    r"(?i)insufficient shared memory|unable to (?:allocate|write to|resize|mmap|open).{0,40}shared memory|"
    r"unable to \w+ (?:to )?file </torch_|/dev/shm.*no space left|no space left.*/dev/shm"
)
_SMALL = 1 << 30
_CURES = (
    Remedy(title="in a container, give it more: `docker run --shm-size=8g …` or `--ipc=host`"),
    Remedy(title="use fewer workers: `num_workers=0` needs no shared memory at all"),
    Remedy(title='or pass files instead: `torch.multiprocessing.set_sharing_strategy("file_system")`'),
)


class SmallSharedMemory(Rule):
    """`/dev/shm` has no room for the next batch of a worker."""

    code = "ENV011"
    name = "small-shared-memory"
    symptoms = (Symptom.CRASH, Symptom.DEATH)
    tell_apart = "the message names shared memory (shm) or a bus error in a worker; it goes away with `num_workers=0`"
    needs = (Crash,)
    folds = ("ERR",)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = next((c for c in links(run) if _SIGNS.search(c.message)), None)
        if crash is None:
            return
        environment = run.first(Environment)
        total = environment.shared_memory_total if environment else None
        small = total is not None and total < _SMALL
        of = f" of {size(total)}" if total is not None and small else ""
        yield self.diagnose(
            headline=f"the shared memory{of} could not hold what a worker passes on",
            # torch adds "might be caused by insufficient shared memory" to every bus error of a worker.
            confidence="proven" if small or "unable to" in crash.message else "likely",
            where=user_line(run, crash),
            label="the worker's batch does not arrive",
            culprit=Culprit(phase="data"),
            evidence=tuple(_evidence(crash, environment, small)),
            remedies=_CURES,
        )


def _evidence(crash: Crash, environment: Environment | None, small: bool) -> Iterator[str]:
    yield next((quoted(line) for line in crash.message.splitlines() if _SIGNS.search(line)), "")
    if environment is not None and small and environment.shared_memory_free is not None:
        yield f"`/dev/shm` has {size(environment.shared_memory_free)} free; workers hand every batch over through it"
