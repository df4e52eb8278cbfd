"""Loops over an iterator that an earlier pass has used up: their bodies never run again."""

from __future__ import annotations

import ast
import dis
import functools
import weakref
from types import CodeType, FrameType
from typing import Any

from torch.utils.data import dataloader

from torchmedic.facts import Location, SpentIterator
from torchmedic.late import late_dataclass
from torchmedic.probes.data.one_shot import Held, is_spent, loop_at, loops_to_hold, source_of
from torchmedic.probes.events.patching import Patches
from torchmedic.probes.source.frames import is_user_file, location, location_of, outward, user_frame
from torchmedic.record import Probe, Recorder

_FOR = dis.opmap["FOR_ITER"]
_MOST_LOOPS = 8


@late_dataclass()
class _Met:
    """A `for` statement that was given an iterator which had ended before."""

    loop: Location
    name: str
    made: Location | None
    text: str
    batches: int
    passes: int | None
    empty: int = 0


class SpentIterators(Probe):
    """Counts the loops that ask an ended loader's iterator again; the first step shows what else is looped over."""

    name = "spent-iterators"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._ended: weakref.WeakSet[Any] = weakref.WeakSet()
        self._met: dict[tuple[CodeType, int], _Met] = {}
        self._held: list[Held] = []
        self._has_crashed = False
        reset: Any = dataloader._BaseDataLoaderIter._reset
        ended = self._ended

        @functools.wraps(reset)
        def begin_anew(iterator: Any, *args: Any, **kwargs: Any) -> Any:
            # With persistent workers, one iterator serves all passes.
            ended.discard(iterator)
            return reset(iterator, *args, **kwargs)

        self._patches.replace(dataloader._BaseDataLoaderIter, "_reset", begin_anew)

    def remove(self) -> None:
        self._patches.restore()

    def on_end(self, iterator: Any) -> None:
        if self.recorder.clock_is_held:
            return
        if iterator not in self._ended:
            self._ended.add(iterator)
            return
        frame = user_frame()
        if frame is None or frame.f_code.co_code[frame.f_lasti] != _FOR:
            return
        key = (frame.f_code, frame.f_lasti)
        if key not in self._met and len(self._met) < _MOST_LOOPS:
            met = _met(frame, iterator)
            if met is not None:
                self._met[key] = met
        if key in self._met:
            self._met[key].empty += 1

    def on_step(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """The loops around the first step; what comes from a loader is heard of when it is asked again."""
        self.recorder.rest(self)
        if not self.recorder.clock_is_held:
            frames = [f for f in outward(user_frame()) if is_user_file(f.f_code.co_filename)]
            self._held = list(loops_to_hold(frames))

    def on_crash(self, error: BaseException) -> None:
        self._has_crashed = True

    def on_finish(self) -> None:
        for met in self._met.values():
            self._tell(met.name, met.text, met.made, met.loop, met.passes, met.empty, met.batches)
        for held in self._held if not self._has_crashed else ():
            if is_spent(held.iterator) and not any(met.name == held.name for met in self._met.values()):
                self._tell(held.name, held.text, held.made, held.loop, held.passes, held.passes - 1, 0)
        self._held = []

    def _tell(
        self,
        name: str,
        text: str,
        made: Location | None,
        loop: Location,
        passes: int | None,
        empty: int,
        batches: int,
    ) -> None:
        self.recorder.observe(
            SpentIterator(
                step=self.recorder.step,
                name=name,
                text=text,
                made=made,
                loop=loop,
                passes=passes,
                empty=empty,
                batches=batches,
            )
        )


def _met(frame: FrameType, iterator: Any) -> _Met | None:
    loop = loop_at(frame)
    if loop is None:
        return None
    source = source_of(loop, frame)
    if source is None:
        return None
    code = frame.f_code
    return _Met(
        loop=location(code.co_filename, loop.lineno, code.co_qualname) if loop.lineno else location_of(frame),
        name=source.name,
        made=source.made,
        text=source.text or ast.unparse(loop.iter),
        batches=int(getattr(iterator, "_num_yielded", 0)),
        passes=source.passes,
    )
