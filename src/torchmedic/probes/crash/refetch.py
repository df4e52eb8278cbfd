"""Fetches a batch again in a fork of this process: nothing it does, prints or breaks can reach the user's run."""

from __future__ import annotations

import faulthandler
import json
import math
import os
import random
import re
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from torchmedic.facts import Crash, Observation, SampleField, from_plain, observation_from_plain, to_plain
from torchmedic.probes.crash.clues import clues_of
from torchmedic.probes.crash.exceptions import crash_of
from torchmedic.probes.crash.none_returns import NoneReturns
from torchmedic.probes.crash.short_slices import short_slice_behind
from torchmedic.probes.objects.samples import troubled_fields

SECONDS = 6.0
_POLL = 0.005
# A status that a dataset which ends its process itself would hardly choose.
_DONE = 117


@dataclass(kw_only=True)
class Outcome:
    """What the second fetch showed. `position` is the place in the batch of the sample that was being fetched."""

    position: int | None = None
    stage: str = ""
    crash: Crash | None = None
    clues: tuple[Observation, ...] = ()
    fields: tuple[SampleField, ...] = ()
    timed_out: bool = False
    exit_signal: int | None = None
    exit_code: int | None = None
    native_stack: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        return self.crash is not None or self.exit_signal is not None or self.exit_code is not None


Tell = Callable[..., None]


def fetch_again(
    dataset: Any,
    indices: list[Any],
    collate: Callable[[list[Any]], Any] | None,
    worker: tuple[int, int] | None = None,
) -> Outcome:
    """Call `dataset[i]` for each index and then `collate`, in a fork, within a few seconds.

    A `collate` of None means that the loader does not batch. `worker` is the number of the worker that is played, and
    how many there are.
    """
    with tempfile.TemporaryDirectory(prefix="torchmedic-") as folder, _children_handled_by_us():
        log = Path(folder) / "log"
        status, timed_out = _in_fork(log, lambda tell: _fetch_as(worker, tell, dataset, indices, collate))
        outcome = _read(log)
        outcome.timed_out = timed_out
        if status is not None and os.WIFSIGNALED(status) and not timed_out:
            outcome.exit_signal = os.WTERMSIG(status)
            outcome.native_stack = _lines(log.with_suffix(".fault"))
        elif status is not None and os.WEXITSTATUS(status) != _DONE:
            outcome.exit_code = os.WEXITSTATUS(status)
        return outcome


def told_by_fork(work: Callable[[Tell], None]) -> dict[str, Any]:
    """What some work tells of itself, done in a fork within a few seconds."""
    with tempfile.TemporaryDirectory(prefix="torchmedic-") as folder, _children_handled_by_us():
        log = Path(folder) / "log"
        _in_fork(log, work)
        return _told(log)


def _in_fork(log: Path, work: Callable[[Tell], None]) -> tuple[int | None, bool]:
    log.touch()
    drawn_so_far = random.getstate()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pid = os.fork()
    if pid == 0:
        random.setstate(drawn_so_far)  # Python seeds `random` anew in every fork
        _do_and_end(log, work)
    return _wait(pid)


@contextmanager
def _children_handled_by_us() -> Iterator[None]:
    """torch's handler raises when a child ends while one of its workers is dead; keep it away from our fork."""
    before = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGCHLD, before if before is not None else signal.SIG_DFL)


def _wait(pid: int) -> tuple[int | None, bool]:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return status, False
        time.sleep(_POLL)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None, True


def _do_and_end(log: Path, work: Callable[[Tell], None]) -> None:
    """In the fork; never returns."""
    try:
        _become_quiet(log)
        with log.open("w") as out:
            work(lambda **fact: print(json.dumps(fact), file=out, flush=True))
    finally:
        os._exit(_DONE)


def _become_quiet(log: Path) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - open until the fork ends
    for number in (signal.SIGTERM, signal.SIGALRM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    faulthandler.enable(log.with_suffix(".fault").open("w"))
    sys.modules["torch"].set_num_threads(1)


def _fetch_as(worker: tuple[int, int] | None, tell: Tell, dataset: Any, *what: Any) -> None:
    """Data sets ask `get_worker_info()` in which worker they are."""
    if worker is not None:
        number, count = worker
        workers: Any = sys.modules["torch.utils.data._utils.worker"]
        seed = sys.modules["torch"].initial_seed()
        workers._worker_info = workers.WorkerInfo(id=number, num_workers=count, seed=seed, dataset=dataset)
    _fetch_all(tell, dataset, *what)


def _fetch_all(tell: Tell, dataset: Any, indices: list[Any], collate: Callable[[list[Any]], Any] | None) -> None:
    samples: list[Any] = []
    returns = NoneReturns()
    stage = "dataset"
    try:
        for position, index in enumerate(indices):
            tell(position=position, stage="dataset")
            with returns.watch():
                samples.append(dataset[index])
        if collate is not None:
            stage = "collate"
            fields = [_with_origin(field, returns, dataset, indices) for field in troubled_fields(samples)]
            tell(position=None, stage="collate", fields=[to_plain(field) for field in fields])
            collate(samples)
        tell(position=None, stage="")
    except BaseException as error:  # noqa: BLE001 - a SystemExit in a dataset is a finding too
        kept = [(clue.kind, to_plain(clue)) for clue in clues_of(error)]
        tell(stage=stage, crash=to_plain(crash_of(error)), clues=kept)


def _with_origin(field: SampleField, returns: NoneReturns, dataset: Any, indices: list[Any]) -> SampleField:
    """A field that is None, with the function that made it so; one that is shorter, with the slice that cut it."""
    if field.problem == "none":
        empty = [i for i, form in enumerate(field.forms) if form == "None"]
        full = [i for i, form in enumerate(field.forms) if form != "None"]
        return replace(field, none_from=returns.behind(empty, full))
    usual, times = Counter(field.forms).most_common(1)[0]
    if 2 * times <= len(field.forms):
        # At the end of a series every window may be shorter than the one before it.
        usual = max(field.forms, key=_size_said)
    if field.problem in ("shape", "length"):
        odd = [i for i, form in enumerate(field.forms) if form != usual]
        return replace(field, short=short_slice_behind(dataset, indices, odd))
    return field


def _size_said(form: str) -> int:
    """How many values a form speaks of.

    >>> _size_said("float32[44, 3]")
    132
    """
    return math.prod(int(n) for n in re.findall(r"\d+", form.partition("[")[2] or form))


def _told(log: Path) -> dict[str, Any]:
    """The facts of the fork, the last word of each kind."""
    told: dict[str, Any] = {}
    for line in log.read_text().splitlines():
        told |= json.loads(line)
    return told


def _read(log: Path) -> Outcome:
    told = _told(log)
    clues = (observation_from_plain(kind, body) for kind, body in told.get("clues", ()))
    return Outcome(
        position=told.get("position"),
        stage=told.get("stage", ""),
        crash=from_plain(Crash, told["crash"]) if "crash" in told else None,
        clues=tuple(clue for clue in clues if clue is not None),
        fields=tuple(from_plain(SampleField, field) for field in told.get("fields", ())),
    )


def _lines(path: Path) -> tuple[str, ...]:
    return tuple(path.read_text(errors="replace").splitlines()[:60]) if path.exists() else ()
