"""What a running function was given, as far as it has not bound its parameters anew."""

from __future__ import annotations

import dis
import functools
import inspect
from types import CodeType, FrameType
from typing import Any

from torchmedic.late import late_dataclass
from torchmedic.probes.source.expressions import MISSING

_BINDING = ("STORE_FAST", "DELETE_FAST", "STORE_DEREF", "DELETE_DEREF")


@late_dataclass(frozen=True)
class Given:
    """The arguments by place, the first being the object where it is a method, and those that have a name."""

    positional: tuple[Any, ...]
    named: dict[str, Any]
    has_self: bool


def as_given(frame: FrameType) -> Given:
    """The arguments of a function that runs or has failed; MISSING for those that are no longer what they were."""
    code, names = frame.f_code, frame.f_locals
    bound = _bound_anew(code)
    known = {name: MISSING if name in bound else thing for name, thing in names.items()}
    places = code.co_varnames[: code.co_argcount]
    keywords = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    rest = list(code.co_varnames[code.co_argcount + code.co_kwonlyargcount :])
    further = known.get(rest.pop(0)) if code.co_flags & inspect.CO_VARARGS else ()
    extra = known.get(rest.pop(0)) if code.co_flags & inspect.CO_VARKEYWORDS else {}
    return Given(
        positional=(*(known.get(name, MISSING) for name in places), *(further if isinstance(further, tuple) else ())),
        named={
            **{name: known.get(name, MISSING) for name in (*places, *keywords)},
            **(extra if isinstance(extra, dict) else {}),
        },
        has_self=places[:1] in (("self",), ("cls",)),
    )


@functools.lru_cache(maxsize=64)
def _bound_anew(code: CodeType) -> frozenset[str]:
    """The names that a function gives a value; since Python 3.13 one instruction may do so for two."""
    found: set[str] = set()
    for one in dis.get_instructions(code):
        names = one.argval if isinstance(one.argval, tuple) else (one.argval,)
        if one.opname.startswith(_BINDING):
            found.update(names if one.opname.endswith(_BINDING) else names[:1])
    return frozenset(found)
