"""Knows every module the script built, where it was born, and which ones are called outermost."""

from __future__ import annotations

import functools
import itertools
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import Any

from torch import nn
from torch.nn.modules import module as torch_module

from torchmedic.facts import Location
from torchmedic.late import late_dataclass
from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.source.frames import is_user_file, location_of, outward, user_frame
from torchmedic.record import Probe, Recorder, shielded

_TORCH_MODULE_FILE = torch_module.__file__
_MOST_CALLERS = 4


@late_dataclass(frozen=True)
class Birth:
    """How a module came to be. `pretrained`: built with weights, or a copy of something that may have them.

    `callers` are the user's lines that led to `where`.
    """

    where: Location | None
    order: int
    in_forward: bool = False
    pretrained: bool = False
    callers: tuple[Location, ...] = ()


class Modules(Probe):
    """Keeps a weak list of modules. The hook on calls is only there while someone needs `on_forward`.

    Keyed by `id`, because a user's class may have an `__eq__` without a `__hash__`, or one that needs attributes.
    """

    name = "modules"

    def __init__(self, born_before: Iterable[nn.Module] = ()) -> None:
        self._before = [weakref.ref(module) for module in born_before]

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        self._born: dict[int, tuple[weakref.ref[nn.Module], Birth]] = {}
        self._order = 0
        self._depth = 0
        self._handles: list[Any] = []
        self._listeners: set[str] = set()
        self._inner: dict[str, Callable[[nn.Module], None]] = {}
        for module in filter(None, (reference() for reference in self._before)):
            self._keep(module, Birth(where=None, order=0))
        self._watch("__init__")
        # Copies and unpickled modules never see `__init__`.
        self._watch("__setstate__")
        self._hide_hooks_from_compiled_models()

    def _watch(self, method: str) -> None:
        original = getattr(nn.Module, method)
        note = shielded(self)(self._note)

        @functools.wraps(original)
        def watched(module: nn.Module, *args: Any, **kwargs: Any) -> None:
            with frame_hidden:
                original(module, *args, **kwargs)
            if self.recorder.is_ours:
                note(module, sys._getframe(1), copied=method == "__setstate__")

        self._patches.replace(nn.Module, method, watched)

    def _hide_hooks_from_compiled_models(self) -> None:
        """A compiled model warns of global hooks at its call, which is right for the user's and noise for ours."""
        if hasattr(torch_module, "_has_any_global_hook"):
            self._patches.replace(torch_module, "_has_any_global_hook", _has_foreign_hook)

    def _note(self, module: nn.Module, frame: FrameType, *, copied: bool) -> None:
        key = id(module)
        kept = self._born.get(key)
        if kept is not None and kept[0]() is module:
            return
        self._order += 1
        self._keep(module, _birth(module, frame, self._order, copied))

    def _keep(self, module: nn.Module, birth: Birth) -> None:
        key = id(module)
        self._born[key] = (weakref.ref(module, lambda _: self._forget(key)), birth)

    def _forget(self, key: int) -> None:
        kept = self._born.get(key)
        if kept is not None and kept[0]() is None:
            del self._born[key]

    def remove(self) -> None:
        self._listeners.clear()
        self._inner.clear()
        self.stop_listening(self.name)
        self._patches.restore()

    def birth(self, module: nn.Module) -> Birth | None:
        kept = self._born.get(id(module))
        return kept[1] if kept is not None and kept[0]() is module else None

    def born_at(self, module: nn.Module) -> Location | None:
        """The user's line that built a module."""
        birth = self.birth(module)
        return birth.where if birth else None

    def count(self) -> int:
        """How many modules were born so far: a clock against which other births can be told."""
        return self._order

    def alive(self) -> Iterator[nn.Module]:
        for reference, _ in list(self._born.values()):
            module = reference()
            if module is not None:
                yield module

    def roots(self) -> list[nn.Module]:
        """Modules that are no part of another one."""
        alive = [module for module in self.alive() if "_modules" in module.__dict__]
        inner = {id(child) for module in alive for child in module.children()}
        return [module for module in alive if id(module) not in inner]

    def listen(self, who: str = "watching", inner: Callable[[nn.Module], None] | None = None) -> None:
        """Start sending `on_forward` for outermost calls, and `inner` for others; costs a little on every call."""
        self._listeners.add(who)
        if inner is not None:
            self._inner[who] = inner
        if not self._handles:
            self._depth = 0
            self._handles = [
                torch_module.register_module_forward_pre_hook(shielded(self)(self._enter)),
                torch_module.register_module_forward_hook(shielded(self)(self._leave), always_call=True),
            ]

    def stop_listening(self, who: str) -> None:
        self._listeners.discard(who)
        self._inner.pop(who, None)
        while not self._listeners and self._handles:
            self._handles.pop().remove()

    def _enter(self, module: nn.Module, _args: Any) -> None:
        self._depth += 1
        if self._depth == 1:
            self.recorder.emit("on_forward", module)
        elif self._inner:
            for tell in tuple(self._inner.values()):
                tell(module)

    def _leave(self, _module: nn.Module, _args: Any, _result: Any) -> None:
        self._depth = max(0, self._depth - 1)


def _has_foreign_hook() -> bool:
    """Whether a hook on all modules was set by someone else."""
    kinds = ("backward_pre_hooks", "backward_hooks", "forward_pre_hooks", "forward_hooks")
    hooks = (hook for kind in kinds for hook in vars(torch_module).get(f"_global_{kind}", {}).values())
    return any(not str(getattr(hook, "__module__", "")).startswith("torchmedic.") for hook in hooks)


def _birth(module: nn.Module, frame: FrameType, order: int, copied: bool) -> Birth:
    """A class of the user's own is born where it is called, not at the `super().__init__()` inside it."""
    caller: FrameType | None = frame
    while caller is not None and caller.f_code.co_name == "__init__" and _first_local(caller) is module:
        caller = caller.f_back
    user = user_frame(caller) if caller is not None else None
    in_forward = pretrained = False
    cloned_by_torch = False
    for above in outward(caller):
        name, file = above.f_code.co_name, above.f_code.co_filename
        in_forward |= name == "_call_impl" and file == _TORCH_MODULE_FILE
        pretrained |= name == "from_pretrained"
        cloned_by_torch |= name == "_get_clones"
    return Birth(
        where=location_of(user) if user is not None else None,
        order=order,
        in_forward=in_forward,
        pretrained=pretrained or (copied and not cloned_by_torch),
        callers=callers_of(user),
    )


def callers_of(user: FrameType | None) -> tuple[Location, ...]:
    """The user's lines that led to a frame, innermost first."""
    above = (frame for frame in outward(user.f_back if user else None) if is_user_file(frame.f_code.co_filename))
    return tuple(location_of(frame) for frame in itertools.islice(above, _MOST_CALLERS))


def _first_local(frame: FrameType) -> Any:
    names = frame.f_code.co_varnames
    return frame.f_locals.get(names[0]) if names else None
