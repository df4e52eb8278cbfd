"""Stacks of a live process: of this one by its frames, of others by a signal that has them written to a file."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import re
import signal
import sys
import threading
import time
from pathlib import Path
from types import FrameType

from torchmedic.facts import Location, ThreadStand
from torchmedic.probes.source.frames import is_own_file, is_user_file, location, location_of, outward

STACKS = "stacks.log"
MOST_FRAMES = 40
_FRAME = re.compile(r'^  File "(?P<file>.*)", line (?P<line>\d+) in (?P<function>.*)$')
_THREAD = re.compile(r"^(?P<current>Current thread|Thread) 0x")
_WAIT_SECONDS = 1.0
_WORKER_LOOP = "_worker_loop"
_WORKER_FILE = os.path.join("_utils", "worker.py")
_FETCH_FILE = os.path.join("_utils", "fetch.py")


def stack_signal() -> int | None:
    """The signal that has a watched process write its stacks; None where the system has no spare one."""
    first = getattr(signal, "SIGRTMIN", None)
    return int(first) + 11 if first is not None else None


def answer_signal(folder: Path) -> None:
    """Let this process, and those it forks, write the stacks of all threads when asked by the signal.

    Python's own handler for faults does it without the interpreter's lock, so that a deadlock answers too.
    """
    number = stack_signal()
    if number is not None and signal.getsignal(number) == signal.SIG_DFL:
        # Kept open to the end, and opened for appending: forked workers write into the same file.
        faulthandler.register(number, (folder / STACKS).open("a"), all_threads=True)


def answers_signal(pid: int) -> bool:
    """Whether a process has a handler for our signal: without one the signal would end it."""
    number = stack_signal()
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    caught = re.search(r"^SigCgt:\s*([0-9a-f]+)", status, flags=re.MULTILINE)
    return number is not None and caught is not None and bool(int(caught.group(1), 16) >> (number - 1) & 1)


def ask_stacks(pid: int, folder: Path) -> tuple[ThreadStand, ...]:
    """The stacks of another watched process, written by itself; empty where it does not answer."""
    number = stack_signal()
    log = folder / STACKS
    if number is None or not log.exists() or not answers_signal(pid):
        return ()
    before = log.stat().st_size
    try:
        os.kill(pid, number)
    except OSError:
        return ()
    until = time.monotonic() + _WAIT_SECONDS
    size = before
    while time.monotonic() < until:
        time.sleep(0.05)
        now = log.stat().st_size
        if now > before and now == size:
            break
        size = now
    with log.open("rb") as file:
        file.seek(before)
        return parse_stacks(file.read().decode(errors="replace"))


def parse_stacks(text: str) -> tuple[ThreadStand, ...]:
    """Threads in a text of Python's fault handler; the main one is the last of them.

    >>> parse_stacks('Current thread 0x1 (most recent call first):\\n  File "a.py", line 3 in f\\n')[0].stack[0].line
    3
    """
    threads: list[list[Location]] = []
    for line in text.splitlines():
        if _THREAD.match(line):
            threads.append([])
        found = _FRAME.match(line)
        if found is not None and threads and not is_own_file(found["file"]):
            threads[-1].append(location(found["file"], int(found["line"]), found["function"]))
    return tuple(
        ThreadStand(
            name="main" if i == len(threads) - 1 else "thread", stack=tuple(stack), is_main=i + 1 == len(threads)
        )
        for i, stack in enumerate(threads)
    )


def threads_now() -> tuple[ThreadStand, ...]:
    """Every thread of this process but our own, the main one first."""
    names = {t.ident: t.name for t in threading.enumerate()}
    main = threading.main_thread().ident
    found = []
    for ident, frame in sys._current_frames().items():
        stack = stack_of(frame)
        if stack and (ident == main or not _is_ours(frame)):
            found.append(ThreadStand(name=names.get(ident, "thread"), stack=stack, is_main=ident == main))
    return tuple(sorted(found, key=lambda t: not t.is_main))


def stack_of(frame: FrameType) -> tuple[Location, ...]:
    """The locations of a stack, innermost first, without frames of ours."""
    shown = [f for f in outward(frame) if not is_own_file(f.f_code.co_filename)]
    return tuple(location_of(f) for f in shown[:MOST_FRAMES])


def _is_ours(frame: FrameType) -> bool:
    """A thread of ours never leaves our files and Python's own."""
    *_, outermost = outward(frame)
    return is_own_file(outermost.f_code.co_filename)


def of_worker(stack: tuple[Location, ...]) -> tuple[Location, ...] | None:
    """What a DataLoader worker does in its loop, innermost first; None for a process that is no worker.

    A forked worker still has the stack of the process that forked it below the loop: none of that is its own doing.
    """
    loops = (i for i, at in enumerate(stack) if at.function == _WORKER_LOOP and at.file.endswith(_WORKER_FILE))
    end = next(loops, None)
    return None if end is None else stack[:end]


def waits_for_work(stack: tuple[Location, ...]) -> bool:
    """Whether a worker (its part of a stack) makes no batch just now."""
    return not any(at.file.endswith(_FETCH_FILE) for at in stack)


def user_line(stack: tuple[Location, ...]) -> Location | None:
    """The innermost line of a stack that is the user's own."""
    with contextlib.suppress(OSError):
        return next((at for at in stack if is_user_file(at.file)), None)
    return None
