"""What comes behind the steps that show a training's peak: the first batches of an evaluation, then the end."""

from __future__ import annotations

import ast
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from torchmedic.checkups.memory.hoarding import Hoard
from torchmedic.checkups.memory.ledger import Ledger
from torchmedic.checkups.memory.training_loop import TrainingLoop
from torchmedic.facts import Location
from torchmedic.facts.memory_plan import Hoarded, LostTrack, Unreached
from torchmedic.probes.source.frames import location, user_location

_BATCHES = 2
_MORE = 1 << 20
_MOST_BATCHES = 24  # where each needs more than the one before
_SECONDS = 8.0  # of the whole process, as for steps that take long
_LEAST_SECONDS = 0.5
_OUTSIDE = ("socket.connect", "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "smtplib.send")
_GOING, _CLOSING, _BEYOND, _AGAIN = range(4)


class Afterwards:
    """Ends the loop that trains once its steps were seen, and lets each data loader behind it give some batches.

    A loop over a data loader ends when that has no more batches; any other is left by a jump to the statement behind
    it. Where there is none, the script is left, as it is when it begins to train again, reaches out of this machine, or
    takes too long.
    """

    def __init__(self, leave: Callable[[], None], ledger: Ledger) -> None:
        self._leave = leave
        self._ledger = ledger
        self._hoards: list[tuple[Hoard, int]] = []
        self._state = _GOING
        self._latest: Any = None
        self._given = self._fed = False  # a batch since the latest step; before it
        self._trained: list[Any] = []
        self._built: list[tuple[Any, Location | None, int]] = []
        self._asked: list[Any] = []
        self._is_evaluated = False
        self._loop = TrainingLoop()
        self._held = 0
        self._is_leaving = False

    @property
    def begun(self) -> bool:
        """Whether the steps that show the peak were seen."""
        return self._state != _GOING

    @property
    def beyond(self) -> bool:
        """Whether the loop that trains is left."""
        return self._state == _BEYOND

    def begin(self) -> None:
        """Called when enough steps were seen; the second time nothing has ended the loop."""
        left = _SECONDS - time.process_time()
        if self._is_leaving:
            return  # the rest of the round may hold more steps
        if self.begun or left < _LEAST_SECONDS:
            self._leave()
            return
        self._held = self._ledger.allocator.allocated
        self._is_leaving = hasattr(signal, "setitimer") and self._loop.leave(sys._getframe(1), self._go_on, self._leave)
        if not self._is_leaving and not self._fed:
            self._leave()
            return
        self._state = _CLOSING
        sys.addaudithook(lambda event, _: self._leave() if event in _OUTSIDE else None)
        if hasattr(signal, "setitimer"):
            signal.signal(signal.SIGPROF, self._out_of_time)
            signal.setitimer(signal.ITIMER_PROF, left)

    def _go_on(self) -> None:
        """The loop was left."""
        self._is_leaving, self._state = False, _BEYOND

    def _out_of_time(self, _number: int, frame: FrameType | None) -> None:
        from torchmedic.checkups.memory.session import at_the_next_line

        at_the_next_line(frame, self._leave)

    # -- told by the data loaders, the optimizers and the engine ---------------------------------------------------

    def note_built(self, loader: Any) -> None:
        self._built.append((loader, user_location(), loader.batch_size or 0))

    def note_step(self) -> None:
        """The loader that gave the latest batch is trained on."""
        self._given, self._fed = False, self._given
        if not self.begun and self._latest is not None and not _is_among(self._latest, self._trained):
            self._trained.append(self._latest)

    def note_backward(self) -> None:
        if self.beyond:
            self._leave()
        elif not self.begun:
            self._loop.note_work(sys._getframe(1))

    def note_forward(self) -> None:
        """A module is called by the script."""
        if self.beyond and self._loop.is_entered_again(sys._getframe(1)):
            self._train_again()

    def _train_again(self) -> None:
        """One more step shows the peak if it comes on top of what an evaluation has left; else there is nothing new."""
        if self._ledger.allocator.allocated <= self._held + _MORE:
            self._leave()
        self._state = _AGAIN

    def note_evaluation(self) -> None:
        """`Module.eval` was called."""
        self._is_evaluated = True

    def batches_of(self, loader: Any, batches: Any) -> Any:
        """The batches, but no more of those trained on once that was seen, and few of others."""
        if self.begun and not self._is_leaving and _is_among(loader, self._trained):
            self._train_again()
        fetch, given, is_new, hoard = batches._next_data, 0, self.begun, Hoard(self._ledger)

        def next_data() -> Any:
            nonlocal given
            if self.begun and not is_new and not self._is_leaving:
                self._state = _BEYOND
                raise StopIteration
            if self.begun and self._state != _AGAIN:
                hoard.weigh()
                self._hoards = [(hoard, _length(loader) - given)]
                if given >= _BATCHES and not (hoard.grew and given < _MOST_BATCHES):
                    raise StopIteration
            given += 1
            if not self.begun:
                self._loop.note_batch(sys._getframe(1))
            self._latest, self._given = loader, True
            if not _is_among(loader, self._asked):
                self._asked.append(loader)
            return fetch()  # which ends it where there are no more

        batches._next_data = next_data
        return batches

    # -- what was not reached --------------------------------------------------------------------------------------

    def hoarded(self) -> list[Hoarded]:
        """What grows with the batches that were not followed."""
        found = [hoard.found("evaluation batch", left) for hoard, left in self._hoards if left > 0]
        return [one for one in found if one is not None]

    def unreached(self, lost: LostTrack | None, *, evaluated: bool) -> tuple[Unreached, ...]:
        """Loaders that gave no batch, and lines that begin an evaluation or fail there, if none was followed.

        A loader with batches no larger than those of another one would show nothing new.
        """
        largest = max((loader.batch_size or 0 for loader in self._asked), default=0) if evaluated else 0
        found = []
        for loader, where, size in self._built:
            if where is not None and size > largest and not _is_among(loader, self._asked):
                found.append(Unreached(what="loader", where=where))
        # Batches that end early may end the script, where it asks for them one by one.
        is_cut = lost is not None and lost.error.startswith("StopIteration")
        if not evaluated and lost is not None and lost.where is not None and not is_cut:
            found.append(Unreached(what="evaluation", where=lost.where))
        elif not evaluated and not self._is_evaluated:
            found += [Unreached(what="evaluation", where=where) for where in _evaluations()]
        return tuple({str(one.where): one for one in found}.values())


def _length(loader: Any) -> int:
    """How many batches a loader gives, 0 where nobody knows."""
    try:
        return len(loader)
    except (TypeError, NotImplementedError):
        return 0


def _is_among(thing: Any, others: list[Any]) -> bool:
    return any(thing is other for other in others)


def _evaluations() -> Iterator[Location]:
    """The lines of the script that put a module into evaluation."""
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    try:
        tree = ast.parse(Path(file or "").read_bytes())
    except (OSError, SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and not node.args and getattr(node.func, "attr", "") == "eval":
            yield location(str(file), node.lineno, "")
