"""Notices that a process stands still, and writes down where, for what, and what those it waits for are doing."""

from __future__ import annotations

import _thread
import collections
import os
import sys
import threading
import time
from pathlib import Path
from types import FrameType
from typing import Any

from torchmedic.facts import PATIENT, Location, MovedOn, Standing, WorkerStand
from torchmedic.probes.objects.bindings import bindings
from torchmedic.probes.source.frames import is_own_file, outward, shown_path
from torchmedic.probes.source.ways_out import ways_out
from torchmedic.probes.stuck import activity
from torchmedic.probes.stuck.held_locks import holder_of, taker_of_same
from torchmedic.probes.stuck.polls import Poll, polled_lock
from torchmedic.probes.stuck.stacks import answer_signal, ask_stacks, of_worker, threads_now, user_line, waits_for_work
from torchmedic.probes.stuck.waits import JOINING, LOCK_FILE, TELLING, Wait, waits_for
from torchmedic.probes.stuck.work import Work
from torchmedic.ranks.marks import mark_time, raise_mark
from torchmedic.record import Probe, Recorder

TIMES_USUAL = 10
_STEPS_KEPT = 50
_ENOUGH_STEPS = 3
# They may compile, load libraries, fill caches: no measure of what is usual.
_WARM_UP = 3
_TIMES_NETWORK = 10
_BUSY = 0.2
_IDLE = 0.05
_WAKES_A_SECOND = 5.0
_MOST_WORKERS = 8
# How long one function may be at work on one rank: so many times the patience, usual steps, slowest steps.
_TIMES_BUSY = 20
_STEPS_BUSY = 3000
_SLOWEST_BUSY = 50


class Stuck(Probe):
    """A thread that looks once a second whether the main thread has moved.

    Still means: the same line with the same variables, hardly any processor time, hardly ever woken, nothing read or
    written. A slow step, a compilation, the saving of a checkpoint or an evaluation moves by this measure, however
    long it takes.
    """

    name = "stuck"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._over = threading.Event()
        self._main = threading.main_thread()
        self._steps: collections.deque[float] = collections.deque(maxlen=_STEPS_KEPT)
        self._last_step: float | None = None
        self._common = Path(recorder.settings.common)
        self._patience = recorder.settings.stuck_after
        self._answered: float | None = None
        self._marked_at: float | None = None
        self._has_stood = False
        self._looks_moving = 0
        self._busy = 0.0
        self._blocked: tuple[list[int], float] = ([], 0.0)
        answer_signal(recorder.folder)
        # Not a `threading.Thread`: the script may count and list its threads, and this one is none of them.
        _thread.start_new_thread(self._watch, ())

    def remove(self) -> None:
        self._over.set()

    def on_step_done(self, optimizer: Any) -> None:
        now = time.monotonic()
        if self._last_step is not None and self.recorder.step > _WARM_UP:
            self._steps.append(now - self._last_step)
        self._last_step = now

    # -- the watching thread -------------------------------------------------------------------------------------

    def _watch(self) -> None:
        seconds = min(1.0, self._patience / 4)
        before: tuple[Any, ...] = ()
        bound: tuple[Any, ...] = ()
        pulse = activity.pulse(os.getpid(), self._main.native_id)
        still_since = time.monotonic()
        work = Work()
        while not self._over.wait(seconds):
            now = time.monotonic()
            frame = sys._current_frames().get(self._main.ident or 0)
            poll = polled_lock(frame)
            signature = self._signature(frame) if poll is None else self._polling(poll.frame)
            last, pulse = pulse, activity.pulse(os.getpid(), self._main.native_id)
            may_wake = poll is not None or _joins(frame)
            has_moved = signature != before or (not may_wake and self._moves(last, pulse, seconds))
            # A loop with a pause is always met on the line of the pause: only its variables tell that it goes round.
            bound_before, bound = bound, () if has_moved or poll is not None else bindings(frame)
            del poll
            if has_moved or (bound_before and bound != bound_before):
                self._move_on(now - still_since)
                before, still_since = signature, now
            else:
                self._looks_moving = 0
            self._busy = work.look(frame, self.recorder.step, now)
            del frame
            self._answer_if_asked(now - still_since)
            if now - still_since > min(self._patience, 2.0):
                self._mark_if_stuck(now - still_since)

    def _signature(self, frame: FrameType | None) -> tuple[Any, ...]:
        """What changes when the main thread gets anywhere: its step, its stack of code and lines."""
        frames = [f for f in outward(frame) if not is_own_file(f.f_code.co_filename)][:12]
        return (self.recorder.step, *((f.f_code, f.f_lineno) for f in frames))

    def _polling(self, frame: FrameType) -> tuple[Any, ...]:
        """The same of a thread that polls for a lock: round after round it is on other lines of one loop."""
        callers = [(f.f_code, f.f_lineno) for f in outward(frame.f_back)][:12]
        return (self.recorder.step, frame.f_code, *callers)

    def _moves(self, last: activity.Pulse | None, now: activity.Pulse | None, seconds: float) -> bool:
        if last is None or now is None:
            return False
        if now.transferred > last.transferred:
            return True
        return now.seconds - last.seconds > _BUSY * seconds or now.switches - last.switches > max(
            _WAKES_A_SECOND * seconds, _WAKES_A_SECOND
        )

    def _answer_if_asked(self, still: float) -> None:
        asked = mark_time(self._common)
        if asked is not None and asked != self._answered:
            self._answered = asked
            self._has_stood = True
            wait = self._wait()
            # A rank whose workers make its batch just now is on its way.
            still = still if self._others_are_idle(wait) else 0.0
            self.recorder.observe(self._standing(still, wait, 0.0))
            self.recorder.flush()

    def _mark_if_stuck(self, still: float) -> None:
        """Say so once; again when the mark is gone because another rank moved, and it may no longer do so."""
        now = time.monotonic()
        if self._marked_at is not None and (mark_time(self._common) or now - self._marked_at < self._patience):
            return
        wait = self._wait()
        if wait.kind == "process":
            still = self._blocked_for(now)
            wait = Wait("pipe", wait.call) if still else wait
        patience = self._patience_for(wait)
        if patience is None or still < patience or not self._others_are_idle(wait):
            return
        self._marked_at, self._has_stood = now, True
        self.recorder.observe(self._standing(still, wait, patience))
        self.recorder.flush()
        raise_mark(self._common)
        self._answered = mark_time(self._common)

    def _blocked_for(self, now: float) -> float:
        """For how long the same children have waited for room in a pipe, while this process waits for children."""
        pids = activity.blocked_writers(activity.descendants(os.getpid()))
        if not pids or pids != self._blocked[0]:
            self._blocked = (pids, now)
        return now - self._blocked[1]

    def _move_on(self, seconds: float) -> None:
        """It stood, and goes on. A process that is being ended moves as well, for a moment."""
        self._marked_at = None
        self._looks_moving += 1
        is_stopped = self.recorder.settings.on_stuck == "stop" and mark_time(self._common) is not None
        if self._has_stood and self._looks_moving > 1 and not is_stopped and not self._is_endless():
            self._has_stood = False
            self.recorder.observe(MovedOn(seconds=seconds, step=self.recorder.step))

    def _patience_for(self, wait: Wait) -> float | None:
        """How long to stand still is too long here; None for waits that are meant to last."""
        if wait.kind in PATIENT:
            return None
        if len(self._steps) >= _ENOUGH_STEPS:
            usual = max(self._patience, TIMES_USUAL * max(self._steps))
            # A server may take its time with an answer, and so may the work that another program does under a lock.
            return _TIMES_NETWORK * usual if wait.kind in ("network", LOCK_FILE) else usual
        first = self.recorder.settings.first_step_after
        # Machines of a cluster may start minutes apart.
        return self._patience if wait.kind in TELLING and wait.call != JOINING else first

    def _too_busy(self) -> float:
        """For how long one function may work while others wait, as an evaluation on one rank does; 0 if unknown."""
        if len(self._steps) < _ENOUGH_STEPS:
            return 0.0
        usual = sorted(self._steps)[len(self._steps) // 2]
        return max(_TIMES_BUSY * self._patience, _STEPS_BUSY * usual, _SLOWEST_BUSY * max(self._steps))

    def _is_endless(self) -> bool:
        return 0 < self._too_busy() <= self._busy

    def _others_are_idle(self, wait: Wait) -> bool:
        """A wait for something that is being worked on, here in another thread or in a child, is no standstill."""
        if wait.kind in ("collective", "gradients", "device"):
            return True
        pids = [os.getpid(), *activity.descendants(os.getpid())]
        return not activity.any_active(pids, _IDLE)

    # -- what is written down ------------------------------------------------------------------------------------

    def _wait(self) -> Wait:
        if self._poll() is not None:
            return Wait(LOCK_FILE)
        threads = threads_now()
        stack = threads[0].stack if threads and threads[0].is_main else ()
        return waits_for(stack, user_line(stack), in_ddp=_has_ddp())

    def _standing(self, still: float, wait: Wait, patience: float) -> Standing:
        threads = threads_now()
        stack = threads[0].stack if threads else ()
        poll = self._poll() if wait.kind == LOCK_FILE else None
        lock = activity.awaited_lock(os.getpid()) if poll is None else _lock_file(poll)
        blocked = next(iter(self._blocked[0]), None) if wait.kind == "pipe" else None
        holder = lock.holder if lock is not None else blocked
        frames = sys._current_frames()
        held = holder_of(self._main.ident or 0, frames) if wait.kind in ("lock", "") else None
        kind = "lock" if held is not None else wait.kind
        workers = self._workers() if wait.kind == "loader" else ()
        held = held or _taker_for(workers, frames)
        names = {t.ident: t.name for t in threading.enumerate()}
        return Standing(
            rank=self.recorder.rank,
            pid=os.getpid(),
            at=time.time(),
            still=still,
            patience=patience,
            usual=sorted(self._steps)[len(self._steps) // 2] if self._steps else None,
            waits_for="file-lock" if lock is not None and kind != LOCK_FILE else kind,
            call=wait.call,
            where=(poll.place() if poll is not None else None) or user_line(stack),
            threads=threads,
            workers=workers,
            file=lock.path if lock is not None else "",
            holder=holder,
            holder_name=activity.command_of(holder) if holder else "",
            taken_by=names.get(held[0], "") if held is not None else "",
            taken_at=held[1] if held is not None else None,
            ways_out=ways_out(frames.get(self._main.ident or 0)) if wait.kind == "gradients" else (),
            busy=0.0 if still else self._busy,
            too_busy=self._too_busy(),
            step=self.recorder.step,
        )

    def _poll(self) -> Poll | None:
        return polled_lock(sys._current_frames().get(self._main.ident or 0))

    def _workers(self) -> tuple[WorkerStand, ...]:
        pids = activity.children(os.getpid())[:_MOST_WORKERS]
        shares = activity.busy_shares(pids)
        return tuple(
            WorkerStand(pid=pid, state=activity.state(pid), busy=shares.get(pid), stack=self._stack_of(pid))
            for pid in pids
        )

    def _stack_of(self, pid: int) -> tuple[Location, ...]:
        """The stack of a child; of a worker what it does for a batch, and nothing where it waits for work."""
        threads = ask_stacks(pid, self.recorder.folder)
        whole = next((t.stack for t in threads if t.is_main), ())
        own = of_worker(whole)
        if own is None:
            return whole
        return () if waits_for_work(own) else own


def _taker_for(workers: tuple[WorkerStand, ...], frames: dict[int, FrameType]) -> tuple[int, Location] | None:
    """The thread that takes the lock which a worker waits for: it may have held that one when the worker was forked."""
    lines = (user_line(worker.stack) for worker in workers if worker.stack)
    return next((taker for line in lines if line and (taker := taker_of_same(line, frames)) is not None), None)


def _lock_file(poll: Poll) -> activity.FileLock | None:
    """The file that is polled for, and who holds the system's lock on it, if anybody does."""
    if not poll.path:
        return None
    return activity.FileLock(path=shown_path(os.path.abspath(poll.path)), holder=activity.lock_holder(poll.path))


def _joins(frame: FrameType | None) -> bool:
    """Whether a process waits for the others of its group: it may look for them many times a second."""
    return any(f.f_code.co_name == JOINING for f in outward(frame))


def _has_ddp() -> bool:
    """Whether backward exchanges gradients: a process group with other members is there."""
    torch = sys.modules.get("torch")
    distributed = getattr(torch, "distributed", None)
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return False
    return bool(distributed.get_world_size() > 1)
