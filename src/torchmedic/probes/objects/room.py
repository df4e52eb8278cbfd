"""Room for what may be noted of a run: a model's layers share their lines, and one step must not use all of it up."""

from __future__ import annotations

_PER_STEP = 6


class Room:
    """One note for each line and step, so many lines in a step, and so many notes in all."""

    def __init__(self, most: int) -> None:
        self._left = most
        self._step = -1
        self._lines: set[object] = set()

    @property
    def is_full(self) -> bool:
        return self._left <= 0

    def takes(self, step: int, line: object) -> bool:
        """Whether a note of this line may be made in this step; if so, it counts.

        >>> room = Room(3)
        >>> [room.takes(step, line) for step, line in ((1, "a"), (1, "a"), (1, "b"), (2, "a"), (3, "a"))]
        [True, False, True, True, False]
        """
        if step != self._step:
            self._step = step
            self._lines.clear()
        if self.is_full or line in self._lines or len(self._lines) >= _PER_STEP:
            return False
        self._lines.add(line)
        self._left -= 1
        return True
