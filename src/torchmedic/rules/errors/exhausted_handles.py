"""Too many open files, or no room in shared memory."""

from __future__ import annotations

from collections.abc import Iterator

from torchmedic.facts import Crash, RefetchedSample, Run
from torchmedic.findings import Culprit, Diagnosis, Remedy, Rule, Symptom
from torchmedic.rules.errors._batches import as_gigabytes
from torchmedic.rules.errors._reading import also, said, user_line

_FILES = ("Too many open files", r"received \d+ items of ancdata", "unable to open shared memory object")
_ROOM = (
    "No space left on device",
    r"unable to (?:write to file|mmap|allocate shared memory)",
    "Bus error.*shared memory",
)


class ExhaustedHandles(Rule):
    """A limit of the system was reached: open files, or shared memory."""

    code = "ERR062"
    name = "exhausted-handles"
    symptoms = (Symptom.CRASH,)
    tell_apart = "`Too many open files`, `received 0 items of ancdata`, `No space left on device`"
    needs = (Crash,)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        crash = run.first(Crash)
        files, room = said(crash, *_FILES), said(crash, *_ROOM)
        if crash is None or not (files or room):
            return
        seen = run.last(RefetchedSample)
        where = user_line(crash)
        loader = seen.loader_built if seen is not None else None
        yield self.diagnose(
            headline="the process has reached its limit of open files"
            if files
            else "a worker ran out of shared memory (/dev/shm), through which batches are sent"
            if said(crash, "Bus error", "shared memory")
            else "there is no space left to write to",
            confidence="proven",
            where=where or loader,
            also=also((loader, "the loader whose workers send batches"), but=where),
            culprit=Culprit(phase="data"),
            evidence=tuple(_evidence(bool(files), seen)),
            remedies=tuple(_remedies(bool(files), seen is not None)),
        )


def _evidence(files: bool, seen: RefetchedSample | None) -> Iterator[str]:
    if files:
        yield "every file that is opened and not closed counts, and so does every tensor kept from a worker"
    if seen is not None and seen.shared_memory_free is not None and seen.num_workers:
        yield f"/dev/shm, through which workers send batches, has {as_gigabytes(seen.shared_memory_free)} free"


def _remedies(files: bool, loader: bool) -> Iterator[Remedy]:
    if files:
        yield Remedy(title="close files when done: `with open(…) as f:`")
        yield Remedy(title="copy what is kept from a batch (`.clone()`, `.item()`), so that its shared memory is freed")
        if loader:
            yield Remedy(title="or `torch.multiprocessing.set_sharing_strategy('file_system')` at the start")
        yield Remedy(title="or raise the limit: `ulimit -n 65536`")
    else:
        yield Remedy(title="free space on the disk, or give more shared memory (`docker run --shm-size=8g`)")
