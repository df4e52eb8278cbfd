"""Every operation of a step as a graph: which line asked for it, what it read, what it made."""

from __future__ import annotations

import inspect
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from types import CodeType
from typing import Any

import torch
from torch import nn
from torch.nn.modules import module as torch_module
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from torchmedic.facts import Location
from torchmedic.late import late_dataclass
from torchmedic.probes.events.patching import hide_frame
from torchmedic.probes.source.frames import is_own_file, is_user_file, location, outward
from torchmedic.probes.source.positions import expression_at

StorageKey = int
_TORCH = torch.__path__[0] + os.sep  # not `torch_geometric`, `torchvision`


@late_dataclass()
class Place:
    """A position in running code, resolved to text only when it is shown."""

    code: CodeType
    line: int
    lasti: int

    def location(self) -> Location:
        return location(self.code.co_filename, self.line, self.code.co_qualname)

    def expression(self) -> str:
        return expression_at(self.code, self.lasti)


@late_dataclass()
class Seen:
    """A tensor as an operation saw it. `maker` is the operation that last wrote its storage in this trace."""

    key: StorageKey
    maker: int | None
    shape: tuple[int, ...]
    dtype: str
    is_float: bool
    requires_grad: bool
    low: float = math.nan
    high: float = math.nan
    looked_at: bool = False

    @property
    def is_bad(self) -> bool:
        """Holds NaN or infinity (known only where the values were looked at)."""
        return self.looked_at and not (math.isfinite(self.low) and math.isfinite(self.high))

    @property
    def has_nan(self) -> bool:
        return self.looked_at and (math.isnan(self.low) or math.isnan(self.high))


@late_dataclass()
class Op:
    """One dispatched operation. `forward` is the forward operation that a backward one belongs to.

    `is_own_backward` says that it is one which a `backward` written by the user asks for, at its `place`.
    """

    index: int
    name: str
    phase: str
    place: Place | None
    library: Place | None
    module: str
    node: str = ""
    forward: int | None = None
    inputs: list[Seen] = field(default_factory=list)
    outputs: list[Seen] = field(default_factory=list)
    scalars: tuple[Any, ...] = ()
    is_own_backward: bool = False

    @property
    def bad_inputs(self) -> list[Seen]:
        return [seen for seen in self.inputs if seen.is_bad]

    @property
    def makes_bad(self) -> bool:
        return any(seen.is_bad for seen in self.outputs)


class Trace(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Records operations while it is entered.

    With `values`, the range of every floating result is read, and of the operands of a non-finite result.
    `keep` is asked after each operation whether to hold on to its live tensors (for evidence); nothing else keeps
    a tensor alive. Storages are followed instead of tensor objects: autograd hands out new objects for saved
    results, and views share what they view.
    """

    def __init__(self, *, values: bool, keep: Callable[[Op], bool] | None = None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.ops: list[Op] = []
        self.kept: dict[int, tuple[list[torch.Tensor], list[torch.Tensor]]] = {}
        self.outsiders: dict[StorageKey, torch.Tensor] = {}
        self._values = values
        self._keep = keep
        self._maker: dict[StorageKey, int] = {}
        self._by_sequence: dict[int, int] = {}
        self._names: dict[int, str] = {}
        self._stack: list[str] = []
        self._handles: list[Any] = []

    def name_modules(self, roots: Iterable[nn.Module]) -> None:
        """Learn the paths of modules, so that operations can be told by the layer they run in."""
        for root in roots:
            for path, module in root.named_modules():
                self._names.setdefault(id(module), path or type(module).__name__)

    def __enter__(self) -> Trace:
        self._handles = [
            torch_module.register_module_forward_pre_hook(self._enter_module),
            torch_module.register_module_forward_hook(self._leave_module, always_call=True),
        ]
        super().__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)  # type: ignore[no-untyped-call]
        while self._handles:
            self._handles.pop().remove()

    def _enter_module(self, module: nn.Module, _args: Any) -> None:
        self._stack.append(self._names.get(id(module), type(module).__name__))

    def _leave_module(self, _module: nn.Module, _args: Any, _result: Any) -> None:
        if self._stack:
            self._stack.pop()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        read = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        mutates = self._values and func._schema.is_mutable
        inputs = [self._seen(t, look=mutates) for t in read]
        # What is changed in place can be kept as it was only now.
        before = [t.detach().clone() for t in read] if self._keep is not None and func._schema.is_mutable else None
        try:
            result = func(*args, **kwargs)
        except Exception as error:
            hide_frame(error)
            raise
        made = [leaf for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor)]
        op = self._record(str(func), inputs, args)
        op.outputs = [self._seen(t, look=self._values) for t in made]
        if op.makes_bad and not mutates:
            op.inputs = [self._seen(t, look=True, maker=seen.maker) for t, seen in zip(read, inputs, strict=True)]
            self._keep_outsiders(op, read)
        self._claim(op, func, read, made)
        if self._keep is not None and self._keep(op):
            self.kept[op.index] = (before or [t.detach().clone() for t in read], [t.detach().clone() for t in made])
        return result

    def _keep_outsiders(self, op: Op, read: list[torch.Tensor]) -> None:
        """Hold on to the first few bad tensors that no operation of this trace made: they came in from outside."""
        for tensor, seen in zip(read, op.inputs, strict=True):
            if seen.is_bad and seen.maker is None and len(self.outsiders) < 8:
                self.outsiders.setdefault(seen.key, tensor.detach())

    def _record(self, name: str, inputs: list[Seen], args: Any) -> Op:
        node = torch._C._current_autograd_node()
        place, library = _places()
        op = Op(
            index=len(self.ops),
            name=name,
            phase="forward" if node is None else "backward",
            place=place,
            library=library,
            module=self._stack[-1] if self._stack else "",
            inputs=inputs,
            scalars=tuple(a for a in args if isinstance(a, (int, float, bool))),
        )
        if node is None:
            self._by_sequence.setdefault(torch._C._autograd._get_sequence_nr() - 1, op.index)
        else:
            self._link_backward(op, node)
        self.ops.append(op)
        return op

    def _link_backward(self, op: Op, node: Any) -> None:
        op.node = node.name()
        op.is_own_backward = is_written_by_user(node)
        if op.is_own_backward:
            return
        op.forward = self._by_sequence.get(node._sequence_nr())
        if op.forward is not None:
            asked = self.ops[op.forward]
            op.place, op.library, op.module = asked.place, asked.library, asked.module

    def _claim(self, op: Op, func: Any, read: list[torch.Tensor], made: list[torch.Tensor]) -> None:
        """Note this operation as the maker of the storages it created or wrote."""
        before = {seen.key for seen in op.inputs}
        for seen in op.outputs:
            if seen.key not in before or func._schema.is_mutable:
                self._maker[seen.key] = op.index
                seen.maker = op.index
        if func._schema.is_mutable and not made and read:
            self._maker[op.inputs[0].key] = op.index

    def _seen(self, tensor: torch.Tensor, *, look: bool, maker: int | None = None) -> Seen:
        key = storage_key(tensor)
        seen = Seen(
            key=key,
            maker=maker if maker is not None else self._maker.get(key),
            shape=tuple(tensor.shape),
            dtype=str(tensor.dtype).removeprefix("torch."),
            is_float=tensor.is_floating_point() or tensor.is_complex(),
            requires_grad=tensor.requires_grad,
        )
        if look and seen.is_float:
            seen.low, seen.high = value_range(tensor)
            seen.looked_at = True
        return seen

    def maker_of(self, tensor: torch.Tensor) -> int | None:
        """The operation that last wrote a live tensor's storage."""
        return self._maker.get(storage_key(tensor))

    def ancestors(self, start: int) -> Iterator[Op]:
        """The operations whose results reach `start`, itself included, nearest first."""
        waiting, done = [start], set()
        while waiting:
            index = waiting.pop(0)
            if index in done:
                continue
            done.add(index)
            op = self.ops[index]
            yield op
            waiting += [seen.maker for seen in op.inputs if seen.maker is not None and seen.maker < index]


def storage_key(tensor: torch.Tensor) -> StorageKey:
    """An identity that views and autograd's saved copies share. What has no storage, as a lazy weight, is its own."""
    try:
        return int(tensor.untyped_storage()._cdata)
    except (NotImplementedError, RuntimeError, ValueError):
        return id(tensor)


def value_range(tensor: torch.Tensor) -> tuple[float, float]:
    """Least and greatest value; NaN in both when there is a NaN. Nothing at all counts as 0."""
    with torch.no_grad():
        values = tensor.detach()
        if values.layout != torch.strided:
            values = values._values() if values.layout == torch.sparse_coo else values.values()
        if values.numel() == 0:
            return 0.0, 0.0
        if values.is_complex():
            values = torch.view_as_real(values)
        low, high = torch.aminmax(values)
        return float(low), float(high)


def is_written_by_user(node: Any) -> bool:
    """Whether an autograd node is that of a `torch.autograd.Function` whose `backward` stands in a user's file."""
    written = inspect.unwrap(getattr(getattr(type(node), "_forward_cls", None), "backward", None) or len)
    code = getattr(written, "__code__", None)
    return code is not None and is_user_file(code.co_filename)


def _places() -> tuple[Place | None, Place | None]:
    """The user's place, and the innermost place in a library other than torch where that lies between."""
    library = None
    for frame in outward(sys._getframe(3)):
        filename = frame.f_code.co_filename
        if is_user_file(filename):
            return Place(frame.f_code, frame.f_lineno or 0, frame.f_lasti), library
        if library is None and not filename.startswith((_TORCH, "<")) and not is_own_file(filename):
            library = Place(frame.f_code, frame.f_lineno or 0, frame.f_lasti)
    return None, library
