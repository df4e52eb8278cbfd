"""The calls of torch that a step makes, as the user wrote them, with who made what each of them read."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator
from dataclasses import field
from types import FrameType
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

from torchmedic.late import late_dataclass
from torchmedic.probes.events.modes import may_put_on, take_off
from torchmedic.probes.graph.trace import Place, storage_key
from torchmedic.probes.source.frames import is_user_file, outward
from torchmedic.probes.source.tracebacks import hide_mode

MOST_CALLS = 20_000
LONGEST_WAY = 24
_MOST_WRITES = 200
_NN_MODULES = nn.modules.__path__[0]
_IN_PLACE = ("__setitem__", "__iadd__", "__isub__", "__imul__", "__itruediv__")
# These hand values on as they are: whoever made the input made the output too.
TRANSPARENT = frozenset(
    {
        "view",
        "reshape",
        "view_as",
        "reshape_as",
        "permute",
        "transpose",
        "swapaxes",
        "movedim",
        "flatten",
        "unflatten",
        "squeeze",
        "unsqueeze",
        "contiguous",
        "float",
        "double",
        "half",
        "bfloat16",
        "to",
        "type",
        "type_as",
        "clone",
        "expand",
        "expand_as",
        "getitem",
        "get",
        "select",
        "narrow",
        "index_select",
        "t",
        "masked_select",
        "chunk",
        "split",
        "unbind",
        "clamp",
        "clamp_min",
        "clamp_max",
        "clip",
        "requires_grad_",
        "cpu",
        "cuda",
        "take_along_dim",
        "dropout",
        "nan_to_num",
    }
)
ELEMENTWISE = frozenset(
    {
        "sub",
        "add",
        "mul",
        "div",
        "pow",
        "abs",
        "square",
        "neg",
        "exp",
        "log",
        "log1p",
        "sqrt",
        "clamp",
        "clamp_min",
        "relu",
        "where",
        "maximum",
        "minimum",
        "float",
        "true_divide",
        "rsub",
        "radd",
        "rmul",
        "masked_fill",
        "masked_select",
        "getitem",
        "cosh",
        "logcosh",
        "softplus",
        "view",
        "reshape",
        "flatten",
    }
)


@late_dataclass()
class Read:
    """A tensor that a call read: who made it in this trace, and its form."""

    maker: int | None
    shape: tuple[int, ...]
    requires_grad: bool
    key: int


@late_dataclass()
class Call:
    """One call. `layer` is torch's own layer around it; `direct` says that the user's line called that layer itself.

    `is_users` says that no code of a library lies between the user's line and the call, `scored` that it belongs to the
    `log_prob` of a distribution, `of_entropy` that it belongs to its `entropy`.
    """

    index: int
    name: str
    place: Place | None
    layer: nn.Module | None
    direct: bool
    inside_module: bool
    is_users: bool
    scored: bool = False
    of_entropy: bool = False
    reads: list[Read] = field(default_factory=list)
    shape: tuple[int, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)


Look = Callable[[Call, tuple[Any, ...], dict[str, Any], Any], None]


class CallTrace(TorchFunctionMode):
    """Records calls while it is on; `look` sees each with its live arguments and result."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.calls: list[Call] = []
        self.writes: list[tuple[int, Place]] = []
        self._look = look
        self._made: dict[int, tuple[weakref.ref[torch.Tensor], int]] = {}
        self._read_by: dict[int, list[int]] = {}
        self._is_on = False
        self.has_hooks = False

    def start(self) -> bool:
        """Switch on, where no mode of somebody else stands in the way."""
        if not may_put_on():
            return False
        torch._C._push_on_torch_function_stack(self)
        self._is_on = True
        return True

    def stop(self) -> None:
        if self._is_on:
            self._is_on = False
            take_off(self)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        try:
            result = func(*args, **kwargs)
        except BaseException as error:
            hide_mode(error)
            raise
        if len(self.calls) < MOST_CALLS and self._is_on:
            name = plain_name(func)
            if len(self.writes) < _MOST_WRITES and args and _works_in_place(func):
                self._note_write(args[0], sys._getframe(1))
            self.has_hooks |= name == "register_hook"
            if name:
                try:
                    self._record(name, args, kwargs, result)
                except Exception:  # noqa: BLE001 - the user's own call has succeeded
                    self.stop()
        return result

    def _note_write(self, into: Any, caller: FrameType) -> None:
        """A line of the user's that writes into a tensor, by the memory it writes into."""
        if isinstance(into, torch.Tensor) and not into.requires_grad and is_user_file(caller.f_code.co_filename):
            place = Place(caller.f_code, caller.f_lineno or 0, caller.f_lasti)
            self.writes.append((storage_key(into), place))

    def _record(self, name: str, args: Any, kwargs: Any, result: Any) -> None:
        made = [leaf for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor)] if result is not None else []
        read = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        if not made or any(torch._C._functorch.is_functorch_wrapped_tensor(t) for t in (*made, *read)):
            return
        call = _call(len(self.calls), name, args, kwargs)
        call.reads = [Read(self.maker_of(t), tuple(t.shape), t.requires_grad, id(t)) for t in read]
        call.shape = tuple(made[0].shape)
        self.calls.append(call)
        for maker in {given.maker for given in call.reads if given.maker is not None}:
            self._read_by.setdefault(maker, []).append(call.index)
        for tensor in made:
            self._made[id(tensor)] = (weakref.ref(tensor), call.index)
        self._look(call, args, kwargs, result)

    def maker_of(self, tensor: torch.Tensor) -> int | None:
        kept = self._made.get(id(tensor))
        return kept[1] if kept is not None and kept[0]() is tensor else None

    def real_maker(self, tensor: torch.Tensor) -> tuple[Call | None, tuple[str, ...]]:
        """The call that made a tensor's values, seen through views and casts, and what was seen through."""
        return self._through(self.maker_of(tensor))

    def _through(self, index: int | None) -> tuple[Call | None, tuple[str, ...]]:
        passed: list[str] = []
        while index is not None:
            call = self.calls[index]
            if call.name not in TRANSPARENT or not call.reads:
                return call, tuple(passed)
            passed.append(call.name)
            index = call.reads[0].maker
        return None, tuple(passed)

    def maker_of_read(self, read: Read) -> Call | None:
        return self._through(read.maker)[0]

    def way_back(self, index: int | None, through: frozenset[str]) -> list[Call]:
        """The calls that a tensor came through, latest first, to the first one of another kind; the trained side."""
        way: list[Call] = []
        while index is not None and len(way) < LONGEST_WAY:
            call = self.calls[index]
            way.append(call)
            known = [read for read in call.reads if read.maker is not None]
            sides = [read for read in call.reads if read.requires_grad] or known
            index = sides[0].maker if call.name in through and sides else None
        return way

    def ancestors(self, *indices: int | None) -> set[int]:
        """These calls and all that their results were computed from."""
        waiting = [index for index in indices if index is not None]
        found = set(waiting)
        while waiting:
            for read in self.calls[waiting.pop()].reads:
                if read.maker is not None and read.maker not in found:
                    found.add(read.maker)
                    waiting.append(read.maker)
        return found

    def readers(self, index: int) -> Iterator[Call]:
        return (self.calls[reader] for reader in self._read_by.get(index, ()))

    def is_reduced(self, index: int) -> bool:
        """Whether a result goes, element by element, into a mean or a sum over everything."""
        waiting, seen = [index], {index}
        while waiting and len(seen) < 200:
            at = waiting.pop()
            for call in self.readers(at):
                if call.name in ("mean", "sum", "nanmean", "norm") and call.shape == ():
                    return True
                is_elementwise = call.name in ELEMENTWISE or (call.name in ("min", "max") and len(call.reads) == 2)
                if is_elementwise and call.index not in seen:
                    seen.add(call.index)
                    waiting.append(call.index)
        return False


def _works_in_place(func: Any) -> bool:
    name = str(getattr(func, "__name__", ""))
    if name.startswith("__"):
        return name in _IN_PLACE
    return name.endswith("_") and name != "requires_grad_"


def plain_name(func: Any) -> str:
    """`sub` for `torch.sub`, `Tensor.__sub__`, `Tensor.sub_`: what the operation is."""
    name = str(getattr(func, "__name__", ""))
    return name.strip("_") if name not in ("__get__", "__set__") else _property_name(func)


def _property_name(func: Any) -> str:
    owner = getattr(getattr(func, "__self__", None), "__name__", "")
    return "t" if owner in ("T", "mT", "H") else "get" if owner in ("data", "real") else ""


def _call(index: int, name: str, args: Any, kwargs: Any) -> Call:
    place: Place | None = None
    layer: nn.Module | None = None
    direct, inside, scored, of_entropy, layers = True, False, False, False, 0
    caller = sys._getframe(3)
    for frame in outward(caller):
        code = frame.f_code
        scored |= code.co_name == "log_prob" and place is None and _is_of_distribution(frame)
        of_entropy |= code.co_name == "entropy" and place is None and _is_of_distribution(frame)
        if code.co_name == "forward":
            owner = frame.f_locals.get("self")
            if isinstance(owner, nn.Module):
                inside = True
                if place is None and code.co_filename.startswith(_NN_MODULES):
                    layers += 1
                    layer = layer if layer is not None else owner
        if place is None and is_user_file(code.co_filename):
            place = Place(code, frame.f_lineno or 0, frame.f_lasti)
        if place is not None and inside:
            break
    direct = layers <= 1
    is_users = is_user_file(caller.f_code.co_filename)
    options = _options(name, args, kwargs)
    return Call(index, name, place, layer, direct, inside, is_users, scored, of_entropy, options=options)


def _is_of_distribution(frame: FrameType) -> bool:
    """A flow or a density model of the user's has a `log_prob` too, inside which nothing is a score yet."""
    return isinstance(frame.f_locals.get("self"), torch.distributions.Distribution)


def _options(name: str, args: Any, kwargs: Any) -> dict[str, Any]:
    """The plain arguments by name, `dim` of a softmax wherever it was written, and the numbers of an index."""
    found = {key: value for key, value in kwargs.items() if isinstance(value, (int, float, str, bool, tuple))}
    if name in ("softmax", "log_softmax", "unsqueeze") and len(args) > 1 and isinstance(args[1], int):
        found["dim"] = args[1]
    if name == "getitem" and len(args) > 1:
        parts = args[1] if isinstance(args[1], tuple) else (args[1],)
        found["index"] = tuple(part for part in parts if isinstance(part, int))
    return found
