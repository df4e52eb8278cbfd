"""A second, silent run that finds the line which changed a tensor in place between its saving and its `backward`."""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Iterator
from types import FrameType
from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from torchmedic.facts import InplaceChange, Location
from torchmedic.late import late_dataclass
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.graph.trace import Place, storage_key
from torchmedic.probes.source.frames import is_user_file, outward
from torchmedic.record import Probe, Recorder

_OPTIM = torch.optim.__path__[0]


@late_dataclass(frozen=True)
class Write:
    """An operation that wrote into a tensor: where the user asked for it, the layer or optimizer that did it."""

    op: str
    place: Place | None
    layer: nn.Module | None
    by_optimizer: bool


class Saved:
    """A tensor that autograd keeps for `backward`, its version at that time, and what wrote into it since."""

    __slots__ = ("__weakref__", "place", "tensor", "version", "write")

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor.detach()  # shares the counter of versions, but no graph
        self.version = int(tensor._version)
        self.place = _place(sys._getframe(2))
        self.write: Write | None = None


class Versions(Probe):
    """From the end of the step before the failing one: keeps every saved tensor beside the last write into it."""

    name = "versions"

    def __init__(self, modules: Modules) -> None:
        self._modules = modules

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._saved: dict[int, weakref.WeakSet[Saved]] = {}
        self._hooks = torch.autograd.graph.saved_tensors_hooks(self._pack, self._unpack)
        self._writes = _Writes(self._note)
        self._is_on = False
        self._open_eyes_at(0)

    def remove(self) -> None:
        if self._is_on:
            self._is_on = False
            self._writes.__exit__(None, None, None)  # type: ignore[no-untyped-call]
            self._hooks.__exit__()

    def on_step_done(self, optimizer: Any) -> None:
        self._open_eyes_at(self.recorder.step)

    def _open_eyes_at(self, step: int) -> None:
        """What a failing `backward` needs may have been saved in the step before."""
        if not self._is_on and step >= (self.recorder.settings.until_step or 0) - 1:
            self._is_on = True
            self._hooks.__enter__()
            self._writes.__enter__()  # type: ignore[no-untyped-call]

    def _pack(self, tensor: torch.Tensor) -> Saved:
        saved = Saved(tensor)
        self._saved.setdefault(storage_key(tensor), weakref.WeakSet()).add(saved)
        return saved

    def _note(self, op: str, written: torch.Tensor) -> None:
        """Before a write. The last one that finds the version still right is the one that changed it."""
        write = None
        for saved in self._saved.get(storage_key(written), ()):
            if saved.tensor._version == saved.version:
                write = write or _write(op)
                saved.write = write

    def _unpack(self, saved: Saved) -> torch.Tensor:
        if saved.tensor._version != saved.version and saved.write is not None:
            self.recorder.observe(self._fact(saved, saved.write))
            self.recorder.flush()
            os._exit(0)
        return saved.tensor

    def _fact(self, saved: Saved, write: Write) -> InplaceChange:
        built = self._modules.born_at(write.layer) if write.layer is not None else None
        return InplaceChange(
            op=write.op,
            where=_location(write.place),
            expression=write.place.expression() if write.place is not None else "",
            layer=type(write.layer).__name__ if write.layer is not None else "",
            layer_built=built,
            by_optimizer=write.by_optimizer,
            shape=tuple(int(n) for n in saved.tensor.shape),
            expected=saved.version,
            version=int(saved.tensor._version),
            saved_at=_location(saved.place),
            saved_by=saved.place.expression() if saved.place is not None else "",
        )


class _Writes(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Tells of every tensor that an operation is about to write into."""

    def __init__(self, note: Any) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._note = note

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func._schema.is_mutable:
            for tensor in _written(func._schema, args, kwargs):
                self._note(str(func), tensor)
        return func(*args, **kwargs)


def _written(schema: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[torch.Tensor]:
    for position, argument in enumerate(schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            given = args[position] if position < len(args) else kwargs.get(argument.name)
            yield from (leaf for leaf in tree_leaves(given) if isinstance(leaf, torch.Tensor))


def _write(op: str) -> Write:
    layer: nn.Module | None = None
    by_optimizer = False
    at: FrameType = sys._getframe(2)
    for frame in outward(at):
        at = frame
        file, owner = frame.f_code.co_filename, frame.f_locals.get("self")
        # An optimizer of the user's own is called by the line to look at, as torch's are.
        if file.startswith(_OPTIM) or isinstance(owner, torch.optim.Optimizer):
            by_optimizer = True
        elif is_user_file(file):
            break
        elif layer is None and isinstance(owner, nn.Module) and getattr(owner, "inplace", False) is True:
            layer = owner
    return Write(op=op, place=_place(at), layer=layer, by_optimizer=by_optimizer)


def _place(frame: FrameType) -> Place | None:
    own = next((f for f in outward(frame) if is_user_file(f.f_code.co_filename)), None)
    return Place(own.f_code, own.f_lineno or 0, own.f_lasti) if own is not None else None


def _location(place: Place | None) -> Location | None:
    return place.location() if place is not None else None
