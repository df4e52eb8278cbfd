"""A DataLoader worker that died without a Python exception."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator

from torchmedic.facts import Crash, Location, RefetchedSample, Run
from torchmedic.findings import Confidence, Culprit, Diagnosis, Remedy, Rule, RuledOut, Symptom
from torchmedic.rules.errors._batches import as_gigabytes, refetched
from torchmedic.rules.errors._reading import also, said, user_line
from torchmedic.rules.errors._syntax import Code

_WORDS = r"DataLoader worker \(pid.*?\) (?:exited unexpectedly|is killed by signal)"
_FAULT_LINE = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+) in (?P<function>\S+)')


class DeadWorker(Rule):
    """A worker process ended; the samples it was fetching were fetched again."""

    code = "ERR034"
    name = "dead-worker"
    symptoms = (Symptom.CRASH, Symptom.DEATH)
    tell_apart = "`DataLoader worker (pid …) exited unexpectedly` or `is killed by signal`"
    needs = (Crash, RefetchedSample)

    def check(self, run: Run) -> Iterator[Diagnosis]:
        seen = refetched(run)
        if seen is None or not (seen.worker_exit or said(run.first(Crash), _WORDS)) or _dies_at_start(seen):
            return
        where = _where(run, seen)
        cause, confidence = _cause(seen)
        yield self.diagnose(
            headline=cause,
            confidence=confidence,
            where=where,
            label=_label(seen),
            also=also((seen.loader_built, "the loader whose worker died"), but=where),
            culprit=Culprit(phase="data", sample=seen.index),
            evidence=tuple(_evidence(seen)),
            ruled_out=_ruled_out(seen),
            remedies=tuple(_remedies(seen)),
        )


def _dies_at_start(seen: RefetchedSample) -> bool:
    """A spawned worker that ends with status 1 never came to fetching: that is the missing guard's story."""
    return seen.start_method in ("spawn", "forkserver") and seen.worker_exit == 1 and not seen.failed


def _repeats(seen: RefetchedSample) -> bool:
    """Whether it ended the same way: an exception is passed on by a worker, and kills nobody."""
    is_other_end = seen.worker_signal is not None and seen.exit_signal is None
    return seen.failed and seen.index is not None and not is_other_end


def _signal_name(number: int | None) -> str:
    try:
        return signal.Signals(number).name if number is not None else ""
    except ValueError:
        return f"signal {number}"


def _cause(seen: RefetchedSample) -> tuple[str, Confidence]:
    if _repeats(seen) and seen.exit_signal is not None:
        return (
            f"fetching sample {seen.index} of `{seen.dataset}` ends the process: {_signal_name(seen.exit_signal)}",
            "proven",
        )
    if _repeats(seen) and seen.exit_code is not None:
        return (
            f"fetching sample {seen.index} of `{seen.dataset}` ends the process with status {seen.exit_code}",
            "proven",
        )
    if _repeats(seen) and seen.crash is not None:
        return (
            f"sample {seen.index} of `{seen.dataset}` raises `{seen.crash.type_name}`, which ends the worker",
            "proven",
        )
    if seen.timed_out:
        return f"fetching sample {seen.index} of `{seen.dataset}` does not come to an end", "likely"
    if seen.worker_signal == signal.SIGBUS:
        return f"a worker of `{seen.dataset}` was killed by SIGBUS: shared memory ran out", "likely"
    if seen.worker_signal == signal.SIGKILL:
        return f"a worker of `{seen.dataset}` was killed from outside (SIGKILL): memory ran out", "likely"
    how = _signal_name(seen.worker_signal) or f"status {seen.worker_exit}"
    return f"a worker of `{seen.dataset}` ended with {how}, its samples load without error", "possible"


def _label(seen: RefetchedSample) -> str:
    return "the process ended here" if _repeats(seen) else f"{seen.num_workers} workers are started for this loader"


def _where(run: Run, seen: RefetchedSample) -> Location | None:
    if not _repeats(seen):
        return seen.loader_built or seen.getitem
    raised = user_line(seen.crash) if seen.crash is not None else None
    return raised or _native_line(run, seen) or _exit_line(run, seen) or seen.getitem or seen.loader_built


def _native_line(run: Run, seen: RefetchedSample) -> Location | None:
    """The innermost line of the user's files on the stack that the fault handler wrote."""
    code = Code.of(run)
    for found in map(_FAULT_LINE.search, seen.native_stack):
        file = next((f for f in code.texts if found and found.group("file").endswith(f)), None)
        if found is not None and file is not None:
            line = int(found.group("line"))
            return Location(file=file, line=line, function=found.group("function"), source=code.line(file, line))
    return None


def _exit_line(run: Run, seen: RefetchedSample) -> Location | None:
    """The one call that can end a process without a signal, where the dataset's file has exactly one."""
    if seen.exit_code is None or seen.getitem is None:
        return None
    calls = [place for place, _ in Code.of(run).calls("_exit") if place.file == seen.getitem.file]
    return calls[0] if len(calls) == 1 else None


def _evidence(seen: RefetchedSample) -> Iterator[str]:
    if _repeats(seen):
        yield "the samples of the worker's batch were fetched again in a copy of the main process, with the same end"
    elif seen.indices and not seen.failed:
        yield f"the {len(seen.indices)} samples it was fetching load without error outside the worker"
    if seen.worker_signal in (signal.SIGBUS, signal.SIGKILL):
        if seen.shared_memory_free is not None and seen.shared_memory_total is not None:
            free, total = as_gigabytes(seen.shared_memory_free), as_gigabytes(seen.shared_memory_total)
            yield f"/dev/shm, through which workers send batches, has {free} of {total} free"
        if seen.memory_available is not None:
            yield f"{as_gigabytes(seen.memory_available)} of memory are available"


def _ruled_out(seen: RefetchedSample) -> tuple[RuledOut, ...]:
    if seen.failed or seen.timed_out or not seen.indices:
        return ()
    return (RuledOut(suspect="a broken sample", how=f"all {len(seen.indices)} were fetched again without error"),)


def _remedies(seen: RefetchedSample) -> Iterator[Remedy]:
    if _repeats(seen):
        yield Remedy(title=f"look at what `dataset[{seen.index}]` reads and repair or leave out that sample")
    elif seen.worker_signal == signal.SIGBUS:
        yield Remedy(title="give the container more shared memory (`docker run --shm-size=8g` or `--ipc=host`)")
        yield Remedy(title="or send batches another way: `torch.multiprocessing.set_sharing_strategy('file_system')`")
    elif seen.worker_signal == signal.SIGKILL:
        yield Remedy(
            title="use fewer workers or a smaller `prefetch_factor`: each worker holds batches and a copy of the data"
        )
    else:
        yield Remedy(title="run with `num_workers=0` to see whether the main process fails too")
