"""Dataclasses that are made when they are first used.

`dataclass` reads every annotation and compiles half a dozen functions for every class. A run has hundreds of kinds of
facts and of notes and uses a few dozen: made at once, they would cost every start a tenth of a second.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from typing import Any, TypeVar, dataclass_transform

KindT = TypeVar("KindT")
_MAKING = threading.RLock()
_FIELDS = "__dataclass_fields__"


class _Unmade:
    """Stands for the fields of a class until they are asked for, be it for a class that is derived from it."""

    def __init__(self, kind: Any, options: dict[str, bool]) -> None:
        self._kind, self._options = kind, options

    def make(self) -> None:
        with _MAKING:
            if self._kind.__dict__[_FIELDS] is self:
                dataclasses.dataclass(init=False, **self._options)(self._kind)

    def __get__(self, _instance: object, owner: Any) -> Any:
        self.make()
        return getattr(owner, _FIELDS)


def make_late(kind: type, **options: bool) -> _Unmade:
    """Have a class made a dataclass, but for its `__init__`, when its fields are first asked for."""
    unmade = _Unmade(kind, options)
    setattr(kind, _FIELDS, unmade)
    return unmade


@dataclass_transform(field_specifiers=(dataclasses.field,))
def late_dataclass(*, frozen: bool = False) -> Callable[[type[KindT]], type[KindT]]:
    """A `dataclass` that is made at the latest with its first instance."""

    def decorate(kind: Any) -> Any:
        unmade = make_late(kind, frozen=frozen)

        def make_and_fill(self: Any, *args: Any, **values: Any) -> None:
            unmade.make()
            # By way of a class derived from it: another thread may be making its first instance at this moment.
            derived: Any = type(kind.__name__, (kind,), {})
            kind.__init__ = dataclasses.dataclass(repr=False, eq=False, frozen=frozen)(derived).__init__
            kind.__init__(self, *args, **values)

        kind.__init__ = make_and_fill
        return kind

    return decorate
