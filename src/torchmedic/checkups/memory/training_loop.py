"""The loop that trains, found by where the work of its steps is done; and the way out of it."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FrameType

from torchmedic.probes.source.frames import is_user_file, line_of, outward
from torchmedic.probes.source.loops import Loop, innermost_loop, jump_to, line_behind

_MOST_CODES = 256


class TrainingLoop:
    """Remembers which lines led to `backward` and to batches; no frame is held, for its variables would be too."""

    def __init__(self) -> None:
        # With its code, so that no other code can have the same `id`.
        self._worked: dict[int, tuple[CodeType, set[int]]] = {}
        self._drew: dict[int, tuple[CodeType, int]] = {}
        self._found: tuple[CodeType, Loop] | None = None
        self.is_left = False

    def note_work(self, frame: FrameType | None) -> None:
        """Backward is called from here."""
        for at in outward(frame):
            code = at.f_code
            if is_user_file(code.co_filename) and len(self._worked) < _MOST_CODES:
                self._worked.setdefault(id(code), (code, set()))[1].add(at.f_lasti)

    def note_batch(self, frame: FrameType | None) -> None:
        """A data loader is asked for a batch from here."""
        self._drew = {id(at.f_code): (at.f_code, at.f_lasti) for at in outward(frame)}

    def find(self, frame: FrameType | None) -> tuple[FrameType, Loop] | None:
        """The innermost loop around a line of a frame, or of its callers, that holds all work that was done so far."""
        for at in outward(frame):
            worked = self._worked.get(id(at.f_code))
            if worked is not None:
                lines = {line_of(worked[0], instruction) for instruction in worked[1]}
                loop = innermost_loop(at.f_code, (at.f_lineno or 0, *lines))
                if loop is not None:
                    return at, loop
        return None

    def is_fed_by_a_loader(self, code: CodeType, loop: Loop) -> bool:
        """Whether the loop goes over a data loader, so that it ends when that has no more batches."""
        drew = self._drew.get(id(code))
        return drew is not None and not loop.holds(line_of(*drew))

    def leave(self, frame: FrameType | None, arrived: Callable[[], None], refused: Callable[[], None]) -> bool:
        """Arrange that the loop ends with its present round, if it can be left and is not over a data loader."""
        found = self.find(frame)
        if found is None or self.is_fed_by_a_loader(found[0].f_code, found[1]):
            return False
        at, loop = found
        behind = line_behind(at.f_code.co_filename, loop)
        if not behind:
            return False
        self._found = at.f_code, loop

        def there() -> None:
            self.is_left = True
            arrived()

        jump_to(behind, at, {loop.line, loop.first}, there, lambda _: refused())
        return True

    def is_entered_again(self, frame: FrameType | None) -> bool:
        """Whether the loop that was left is at work once more."""
        if not self.is_left or self._found is None:
            return False
        code, loop = self._found
        return any(at.f_code is code and loop.holds(at.f_lineno or 0) for at in outward(frame))
