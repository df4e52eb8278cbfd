"""`torchmedic where`: where a live process stands, thread by thread, rank by rank."""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from torchmedic.cli._numbers import ProcessNumber
from torchmedic.cli._output import OneLineError
from torchmedic.settings import VARIABLE
from torchmedic.translation import said

if TYPE_CHECKING:
    from torchmedic.facts import Location, ThreadStand

_MOST_IN_A_ROW = 3


@dataclass(frozen=True)
class Answer:
    """A watched process and its stacks."""

    pid: int
    rank: int | None
    state: str
    busy: float
    threads: tuple[ThreadStand, ...]
    waits_for: str
    is_worker: bool


@click.command()
@click.option("--all-threads", is_flag=True, help="Show every thread, not the main one alone.")
@click.argument("pid", type=ProcessNumber(min=1))
def command(pid: int, all_threads: bool) -> None:
    """Show at which line a live process stands. PID is a script run by torchmedic, or anything that started one.

    The process goes on: it is asked by a signal that Python's fault handler answers, even in a deadlock. Workers and
    ranks below PID are shown too.
    """
    from torchmedic.probes.stuck.activity import busy_shares, command_of, descendants, state

    if not state(pid):
        raise OneLineError(f"no process {pid}" if os.path.isdir("/proc/self") else "`where` needs Linux's /proc")
    pids = [pid, *descendants(pid)]
    folders = {one: folder for one in pids if (folder := _folder_of(one)) is not None}
    if not folders:
        raise OneLineError(f"process {pid} ({command_of(pid)}) is not watched: only what `torchmedic run` started is")
    shares = busy_shares(list(folders))
    answers = [_ask(one, folder, shares.get(one, 0.0)) for one, folder in folders.items()]
    if not any(answer.threads for answer in answers):
        raise OneLineError(f"process {pid} does not answer")
    for answer in answers:
        _show(answer, all_threads)


def _ask(pid: int, folder: Path, busy: float) -> Answer:
    from torchmedic.probes.stuck.activity import state
    from torchmedic.probes.stuck.stacks import ask_stacks, of_worker, user_line, waits_for_work
    from torchmedic.probes.stuck.waits import waits_for

    threads = tuple(_own_part(thread) for thread in ask_stacks(pid, folder))
    main = next((t.stack for t in threads if t.is_main), ())
    is_worker = of_worker(main) is not None
    rank = re.fullmatch(r"rank(\d+)(?:-\d+)?", folder.name)
    idle = is_worker and waits_for_work(main)
    waits = "work" if idle else waits_for(main, user_line(main), in_ddp=rank is not None).kind
    return Answer(pid, int(rank.group(1)) if rank else None, state(pid), busy, threads, waits, is_worker)


def _own_part(thread: ThreadStand) -> ThreadStand:
    """A thread without what a worker's process had below the loop when it was forked."""
    from dataclasses import replace

    from torchmedic.probes.stuck.stacks import of_worker

    own = of_worker(thread.stack)
    return thread if own is None else replace(thread, stack=thread.stack[: len(own) + 1])


def _folder_of(pid: int) -> Path | None:
    """The run folder of a watched process: it was told so by a variable it was started with."""
    from torchmedic.probes.stuck.activity import parent_of
    from torchmedic.probes.stuck.stacks import STACKS, answers_signal

    try:
        words = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return None
    told = next((w.partition(b"=")[2] for w in words if w.startswith(f"{VARIABLE}=".encode())), b"")
    if not told or not answers_signal(pid):
        return None
    try:
        settings = json.loads(told)
    except ValueError:
        return None
    shared = Path(settings.get("shared_folder") or settings["run_folder"])
    # A forked worker answers where the rank that forked it does.
    known = (path.parent for one in (pid, parent_of(pid)) for path in shared.glob(f"rank*/pid-{one}"))
    folder = next(known, None) or Path(settings["run_folder"])
    return folder if (folder / STACKS).exists() else None


def _show(answer: Answer, all_threads: bool) -> None:
    from torchmedic.probes.stuck.stacks import user_line

    roles = [f"rank {answer.rank}"] if answer.rank is not None else []
    roles += ["DataLoader worker"] if answer.is_worker else []
    rank = f" ({', '.join(roles)})" if roles else ""
    doing = f"waits for {_WAITS[answer.waits_for]}" if answer.waits_for else f"uses {100 * answer.busy:.0f} % of a core"
    click.echo(said(f"process {answer.pid}{rank} {doing}"))
    for thread in answer.threads:
        if not (thread.is_main or all_threads):
            continue
        at = user_line(thread.stack)
        if at is not None:
            click.echo(
                f"  {thread.name}: {at.file}:{at.line} in {at.function or '<module>'}\n      {at.source.strip()}"
            )
        for line in stack_lines(thread.stack):
            click.echo(f"    {said(line)}")


def stack_lines(stack: tuple[Location, ...]) -> Iterator[str]:
    """Every line of the user's own; of what libraries call among themselves, the first few and how many more."""
    from torchmedic.probes.source.frames import is_user_file

    for is_own, frames in itertools.groupby(stack, lambda place: is_user_file(place.file)):
        row = list(frames)
        shown = row if is_own else row[:_MOST_IN_A_ROW]
        yield from (f"{place.file}:{place.line} in {place.function}" for place in shown)
        if len(row) > len(shown):
            yield f"… {len(row) - len(shown)} more of libraries"


_WAITS = {
    "collective": "the other ranks, in a collective",
    "gradients": "the gradients of the other ranks",
    "loader": "a batch of its DataLoader",
    "file-lock": "a lock on a file",
    "lock": "a lock, a queue or a thread",
    "process": "another process",
    "sleep": "a clock or a person",
    "network": "the network",
    "device": "a device",
    "work": "its next batch to make",
}
