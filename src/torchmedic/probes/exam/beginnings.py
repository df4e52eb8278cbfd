"""Which steps the exam of leaves looks at: the first ones of each training, and those after a change of the model."""

from __future__ import annotations

from torchmedic.record import next_of

_LOOKED_AT = frozenset({0, 1, 2, 3, *(2**n for n in range(3, 15))})
_LOOKED_AT_AFTER_CHANGE = frozenset({0, 1, 2, 3, 8})
_MOST_OPTIMIZERS = 8
# A script that keeps copies of its best model makes new parameters as well, one epoch after the other.
_MOST_CHANGES = 24


class Beginnings:
    """The steps from which the ones to look at are counted."""

    def __init__(self) -> None:
        self._optimizers = [0]
        self._changes: list[int] = []

    def add_optimizer(self, step: int) -> None:
        if len(self._optimizers) < _MOST_OPTIMIZERS:
            self._optimizers.append(step)

    def add_change(self, step: int) -> bool:
        """Parameters were born amid the training, or began to need a gradient; says whether this step is a new one."""
        if step in self._changes or self.are_enough:
            return False
        self._changes.append(step)
        return True

    @property
    def are_enough(self) -> bool:
        """Where a script builds parameters in every step, one more change tells nothing."""
        return len(self._changes) >= _MOST_CHANGES

    def is_looked_at(self, step: int) -> bool:
        return any(step - begun in steps for begun, steps in self._all())

    def next_look(self, step: int) -> int:
        return min(begun + next_of(steps, step - begun) for begun, steps in self._all())

    def _all(self) -> list[tuple[int, frozenset[int]]]:
        changes = [(step, _LOOKED_AT_AFTER_CHANGE) for step in self._changes]
        return [*((step, _LOOKED_AT) for step in self._optimizers), *changes]
