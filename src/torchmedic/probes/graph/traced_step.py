"""One early step under the microscope: the operations, where gradients were off, and where values left torch."""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from torchmedic.late import late_dataclass
from torchmedic.probes.events.patching import hide_frame
from torchmedic.probes.graph.complex_casts import Dropped, dropped_by
from torchmedic.probes.graph.trace import Op, Place, StorageKey, Trace, storage_key
from torchmedic.probes.source.frames import is_own_file, is_user_file, outward
from torchmedic.probes.source.tracebacks import hide_mode

_MOST_OPS = 40_000
_MOST_PARTS = 64
_MOST_BYTES_HELD = 256 * 2**20
_LEAVING = {
    "numpy": "numpy",
    "__array__": "numpy",
    "tolist": "tolist",
    "item": "item",
    "__float__": "item",
    "__int__": "item",
}
_ENTERING = frozenset({"tensor", "as_tensor", "from_numpy", "asarray", "scalar_tensor"})


@late_dataclass()
class Leaving:
    """A tensor that needs a gradient turned into something that is no tensor."""

    how: str
    key: StorageKey
    needs_grad: bool
    place: Place
    at: int
    shape: tuple[int, ...]
    value: Any = None


@late_dataclass()
class Entering:
    """A tensor made of something that is none."""

    key: StorageKey
    place: Place
    at: int
    leaf: bool


@late_dataclass()
class Asked:
    """A call of `torch.autograd.grad`, before the operation with this number, and the storages it asks about."""

    at: int
    place: Place
    of: frozenset[StorageKey] = frozenset()


@late_dataclass()
class GradFree:
    """The user's frames around an operation that read a tensor needing a gradient while gradients were off."""

    places: tuple[Place, ...]
    callee: str
    in_function: bool
    in_checkpoint: bool


class StepTrace(Trace):  # type: ignore[no-untyped-call]
    """A Trace without values that also knows where gradients were switched off."""

    def __init__(self) -> None:
        super().__init__(values=False)
        self.grad_free: dict[int, GradFree] = {}
        self.gradients_asked: list[Asked] = []
        self.too_long = False
        self.dropped: list[Dropped] = []
        self.lifted: dict[int, tuple[float, ...]] = {}
        self.all_zero: set[int] = set()
        self.fed: set[str] = set()
        self._held: list[Any] = []
        self._room = _MOST_BYTES_HELD

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if self.too_long or len(self.ops) >= _MOST_OPS:
            self.too_long = True
            return func(*args, **(kwargs or {}))
        index = len(self.ops)
        try:
            result = super().__torch_dispatch__(func, types, args, kwargs)
        except Exception as error:
            hide_frame(error)
            raise
        try:
            self._annotate(index, func, args, result)
        except Exception:  # noqa: BLE001 - the user's own code is calling
            self.too_long = True
        return result

    def _annotate(self, index: int, func: Any, args: Any, result: Any) -> None:
        dropped = dropped_by(func, args, result, self.ops[index]) if index < len(self.ops) else None
        if dropped is not None:
            self.dropped.append(dropped)
        if func is torch.ops.aten.lift_fresh.default and index < len(self.ops):
            self._begin_anew(self.ops[index])
            self._note_values(index, result)
        if index < len(self.ops):
            self._hold(result)
            if self.ops[index].is_own_backward:
                self._note_zeros(self.ops[index], args, result)
        if not torch.is_grad_enabled() and index < len(self.ops):
            op = self.ops[index]
            if op.phase == "forward" and any(seen.requires_grad for seen in op.inputs):
                self.grad_free[index] = _surroundings()

    def _note_values(self, index: int, made: Any) -> None:
        """The numbers that a new tensor was made of, where they are few."""
        if made.is_floating_point() and made.device.type == "cpu" and made.numel() <= _MOST_PARTS:
            self.lifted[index] = tuple(made.detach().flatten().tolist())

    def _note_zeros(self, op: Op, args: Any, result: Any) -> None:
        """In a `backward` of the user's own: results that are 0 everywhere, and whether anything else came in."""
        if isinstance(result, torch.Tensor) and not bool(result.any()):
            self.all_zero.add(op.index)
        given = [tensor for tensor in (*args, result) if isinstance(tensor, torch.Tensor)]
        if any(tensor.is_floating_point() and bool(tensor.any()) for tensor in given):
            self.fed.add(op.node)

    def _hold(self, result: Any) -> None:
        """Keep small results alive while the trace lasts, so that no later tensor lies where they lay."""
        for tensor in result if isinstance(result, (list, tuple)) else (result,):
            if isinstance(tensor, torch.Tensor) and tensor.layout == torch.strided:
                size = tensor.untyped_storage().nbytes()
                if size <= self._room:
                    self._room -= size
                    self._held.append(tensor.untyped_storage())

    def note_gradient_asked(self, inputs: tuple[Any, ...]) -> None:
        place = _user_place()
        if place is not None and len(self.gradients_asked) < _MOST_OPS:
            of = frozenset(storage_key(tensor) for tensor in inputs if isinstance(tensor, torch.Tensor))
            self.gradients_asked.append(Asked(len(self.ops), place, of))

    def let_go(self) -> None:
        self._held.clear()

    def _begin_anew(self, op: Op) -> None:
        """A tensor made of plain values may lie where a freed one lay: it has no maker but this operation."""
        for seen in op.inputs:
            seen.maker = None
        for seen in op.outputs:
            self._maker[seen.key] = seen.maker = op.index

    def op_of(self, sequence: int) -> int | None:
        """The operation that made an autograd node, by the node's sequence number."""
        return self._by_sequence.get(sequence)


class Borders(TorchFunctionMode):
    """Notes where values leave torch and where tensors are made of plain values."""

    def __init__(self, trace: StepTrace) -> None:
        super().__init__()
        self._trace = trace
        self.leaving: list[Leaving] = []
        self.entering: list[Entering] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        try:
            result = func(*args, **(kwargs or {}))
        except BaseException as error:
            hide_mode(error)
            raise
        try:
            self._note(func, args, result)
        except Exception:  # noqa: BLE001 - the user's own code is calling
            self._trace.too_long = True
        return result

    def _note(self, func: Any, args: Any, result: Any) -> None:
        name = getattr(func, "__name__", "")
        at = len(self._trace.ops)
        if name in _LEAVING and args and isinstance(args[0], torch.Tensor):
            self._leave(_LEAVING[name], args[0], result, at)
        elif name in _ENTERING and isinstance(result, torch.Tensor):
            place = _user_place()
            if place is not None:
                for tensor in _tensors_in(args[0] if args else None):
                    self._leave("tensor", tensor, None, at)
                if name == "tensor" and args and isinstance(args[0], torch.Tensor):
                    self._leave("copy", args[0], None, at)
                self.entering.append(Entering(storage_key(result), place, at, bool(result.requires_grad)))
        elif name == "__get__" and getattr(func, "__self__", None) is torch.Tensor.data:
            self._leave("data", args[0], None, at)

    def _leave(self, how: str, tensor: torch.Tensor, result: Any, at: int) -> None:
        place = _user_place()
        if place is not None and len(self.leaving) < _MOST_OPS:
            value = result if isinstance(result, (int, float)) else None
            self.leaving.append(
                Leaving(how, storage_key(tensor), tensor.requires_grad, place, at, tuple(tensor.shape), value)
            )


def _tensors_in(made_of: Any) -> list[torch.Tensor]:
    """Tensors in a list that becomes one tensor: torch takes the number of each, and says nothing."""
    parts = list(made_of[:_MOST_PARTS]) if isinstance(made_of, (list, tuple)) else []
    return [part for part in parts if isinstance(part, torch.Tensor) and part.requires_grad]


def _user_place() -> Place | None:
    for frame in outward(sys._getframe(2)):
        if is_user_file(frame.f_code.co_filename):
            return Place(frame.f_code, frame.f_lineno or 0, frame.f_lasti)
    return None


def _surroundings() -> GradFree:
    places: list[Place] = []
    callee = ""
    in_function = in_checkpoint = False
    for frame in outward(sys._getframe(2)):
        filename, name = frame.f_code.co_filename, frame.f_code.co_name
        if is_own_file(filename):
            continue
        if is_user_file(filename):
            places.append(Place(frame.f_code, frame.f_lineno or 0, frame.f_lasti))
            if len(places) == 8:
                break
            continue
        if name == "apply" and filename.endswith("function.py") and "autograd" in filename:
            in_function = True
        if filename.endswith("checkpoint.py") and not in_checkpoint:
            # What the user wrote inside the checkpointed function is not where the cut is made.
            in_checkpoint = True
            places.clear()
        elif not places:
            callee = name
    return GradFree(tuple(places), callee, in_function, in_checkpoint)
