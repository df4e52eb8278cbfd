"""What makes a class a fact: a frozen dataclass filled by keywords, with methods that all facts share.

`dataclass` compiles half a dozen functions for every class; shared methods cost nothing before the script's first
line, and little when a fact is written down.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar, dataclass_transform

from torchmedic.late import make_late

KindT = TypeVar("KindT")


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(dataclasses.field,))
def fact(kind: type[KindT]) -> type[KindT]:
    """Make a class of annotated names a fact."""
    for name, method in _SHARED.items():
        setattr(kind, name, method)
    make_late(kind, kw_only=True, repr=False, eq=False)
    return kind


@dataclasses.dataclass(frozen=True)
class _Form:
    names: frozenset[str]
    defaults: dict[str, Any]
    made: dict[str, Callable[[], Any]]


@functools.cache
def _form_of(kind: Any) -> _Form:
    fields = dataclasses.fields(kind)
    return _Form(
        names=frozenset(f.name for f in fields),
        defaults={f.name: f.default for f in fields if f.default is not dataclasses.MISSING},
        made={f.name: f.default_factory for f in fields if f.default_factory is not dataclasses.MISSING},
    )


def _fill(self: Any, **values: Any) -> None:
    kind: Any = type(self)
    form, state = _form_of(kind), self.__dict__
    state.update(form.defaults)
    for name, make in form.made.items():
        state[name] = make()
    state.update(values)
    if state.keys() != form.names:
        wrong = ", ".join(sorted(state.keys() ^ form.names))
        raise TypeError(f"{kind.__name__}: missing or unknown: {wrong}")


def _show(self: Any) -> str:
    told = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in dataclasses.fields(self))
    return f"{type(self).__qualname__}({told})"


def _is_equal(self: Any, other: object) -> Any:
    return self.__dict__ == other.__dict__ if type(self) is type(other) else NotImplemented


def _hash(self: Any) -> int:
    return hash(tuple(getattr(self, f.name) for f in dataclasses.fields(self)))


def _refuse(self: Any, name: str, *_value: object) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"{type(self).__name__}.{name} is a fact: it does not change")


_SHARED = {
    "__init__": _fill,
    "__repr__": _show,
    "__eq__": _is_equal,
    "__hash__": _hash,
    "__setattr__": _refuse,
    "__delattr__": _refuse,
}
