"""Turns a live exception into a Crash: frames with their variables, the module that failed, names close by."""

from __future__ import annotations

import builtins
import difflib
import sys
import traceback
from collections.abc import Mapping
from types import FrameType, TracebackType
from typing import Any, NamedTuple

from torchmedic.facts import Crash, Frame, Location, ModuleFact
from torchmedic.probes.crash.comprehensions import known_names
from torchmedic.probes.objects.values import module_fact, summarise_locals, type_name
from torchmedic.probes.source.expressions import wrapped_by
from torchmedic.probes.source.frames import COMPREHENSIONS, is_own_file, is_user_file, location, shown_path
from torchmedic.redaction import redact

MOST_FRAMES = 60
_INNERMOST_WITH_VALUES = 4


class _Step(NamedTuple):
    """One level of a traceback, with what its names stood for."""

    frame: FrameType
    line: int
    names: Mapping[str, Any]


def crash_of(error: BaseException, step: int | None = None) -> Crash:
    """Everything worth keeping of an exception that ended the script."""
    frames = _frames(error.__traceback__)
    behind = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if isinstance(error, BaseExceptionGroup):
        behind = error.exceptions[0]
    place, column = _syntax_place(error)
    return Crash(
        exception=type_name(error),
        message=redact(_message(error)),
        frames=frames,
        cause=crash_of(behind) if behind is not None and behind is not error else None,
        handling=behind is not None and error.__cause__ is None,
        wraps=wrapped_by(error) is not None,
        notes=tuple(redact(str(note)) for note in getattr(error, "__notes__", ())),
        step=step,
        near_names=_near_names(error),
        syntax=place,
        syntax_column=column,
    )


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - the user's own __str__ may fail
        return ""


def _syntax_place(error: BaseException) -> tuple[Location | None, int | None]:
    if not isinstance(error, SyntaxError) or error.filename is None or error.lineno is None:
        return None, None
    where = location(error.filename, error.lineno)
    if not where.source and error.text:
        where = Location(file=shown_path(error.filename), line=error.lineno, source=redact(error.text.rstrip("\n")))
    return where, error.offset


def _frames(tb: TracebackType | None) -> tuple[Frame, ...]:
    steps = _steps(tb)
    if len(steps) > MOST_FRAMES:
        steps = steps[: MOST_FRAMES // 3] + steps[-2 * MOST_FRAMES // 3 :]
    root = _root_module([step.frame for step in steps])
    innermost = len(steps) - _INNERMOST_WITH_VALUES
    return tuple(_frame(step, root, with_values=i >= innermost) for i, step in enumerate(steps))


def _steps(tb: TracebackType | None) -> list[_Step]:
    """The levels of a traceback; a comprehension is none of its own, as since Python 3.12."""
    steps: list[_Step] = []
    above = None
    while tb is not None:
        frame = tb.tb_frame
        if not is_own_file(frame.f_code.co_filename):
            names = known_names(tb) if is_user_file(frame.f_code.co_filename) else frame.f_locals
            if above is not None and frame.f_back is above and frame.f_code.co_name in COMPREHENSIONS:
                outer, bound = steps.pop(), {name: thing for name, thing in names.items() if not name.startswith(".")}
                steps.append(_Step(outer.frame, tb.tb_lineno, {**bound, **outer.names, **bound}))
            else:
                steps.append(_Step(frame, tb.tb_lineno, names))
        above, tb = frame, tb.tb_next
    return steps


def _frame(step: _Step, root: Any, with_values: bool) -> Frame:
    frame, line, names = step
    user = is_user_file(frame.f_code.co_filename)
    owner = names.get("self")
    values = summarise_locals(names.items()) if user or with_values else ()
    return Frame(
        location=location(frame.f_code.co_filename, line, frame.f_code.co_qualname),
        is_user=user,
        values=values,
        module=_module_of(owner, root),
    )


def _is_module(thing: Any) -> bool:
    torch = sys.modules.get("torch")
    # One whose `nn.Module.__init__` has not run cannot be asked for anything.
    return torch is not None and isinstance(thing, torch.nn.Module) and "_modules" in vars(thing)


def _root_module(frames: list[FrameType]) -> Any:
    """The outermost module being called: paths are told from it."""
    owners = (f.f_locals.get("self") for f in frames)
    return next((owner for owner in owners if _is_module(owner)), None)


def _module_of(owner: Any, root: Any) -> ModuleFact | None:
    if not _is_module(owner):
        return None
    path = next((name for name, module in root.named_modules() if module is owner), "")
    return module_fact(owner, path)


def _near_names(error: BaseException) -> tuple[str, ...]:
    """Names that may have been meant, for a misspelt attribute or name."""
    wanted = getattr(error, "name", None)
    if not isinstance(wanted, str):
        return ()
    if isinstance(error, AttributeError):
        owner: Any = getattr(error, "obj", None)
        known = dir(owner) + (list(owner._modules) if _is_module(owner) else [])
    elif isinstance(error, NameError):
        known = _names_in_scope(error.__traceback__)
    else:
        return ()
    return tuple(difflib.get_close_matches(wanted, sorted(set(known)), n=3, cutoff=0.7))


def _names_in_scope(tb: TracebackType | None) -> list[str]:
    frames = [frame for frame, _ in traceback.walk_tb(tb)]
    if not frames:
        return []
    last = frames[-1]
    return [*last.f_locals, *last.f_globals, *vars(builtins)]
