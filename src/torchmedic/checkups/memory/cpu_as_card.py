"""What a card's tensors would go through, for a script that is followed on the CPU: its autocast, its kernels."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.optim import optimizer
from torch.utils._pytree import tree_leaves, tree_map

if TYPE_CHECKING:
    from torchmedic.checkups.memory.patches import Patches

_CPU, _CUDA = "AutocastCPU", "AutocastCUDA"
# Of the operations that autocast treats on a card alone: those that it narrows, and those whose operands are to be of
# one type. All others are computed in float32.
_NARROW = {
    "addmv", "addr", "mv", "chain_matmul", "einsum", "linalg_multi_dot", "convolution", "_convolution",
    "lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell", "_thnn_fused_lstm_cell", "_thnn_fused_gru_cell",
}  # fmt: skip
_ALIKE = {"addcdiv", "addcmul", "atan2", "bilinear", "cross", "dot", "vdot", "index_put", "scatter_add", "tensordot"}
_NOT_OF_CPU = ("cudnn_", "_scaled_dot_product_")
# Widened on the CPU alone.
_LEFT_NARROW = {
    "cross_entropy_loss", "avg_pool3d", "adaptive_avg_pool3d", "adaptive_max_pool3d", "max_pool3d",
    "reflection_pad1d", "reflection_pad2d", "replication_pad1d", "replication_pad2d", "replication_pad3d",
}  # fmt: skip
# Kernels of a card that read float16, and make float32 of it.
_SOFTMAX = {"softmax": "_softmax", "log_softmax": "_log_softmax"}

_SUPPORTED = "_get_foreach_kernels_supported_devices"

_registered: list[torch.library.Library] = []


def install_card_habits(patches: Patches) -> None:
    """Let tensors of the CPU take the ways that torch chooses for those of a card."""
    if not _registered:
        library = torch.library.Library("aten", "IMPL")  # type: ignore[no-untyped-call]
        _registered.append(library)
        _complete_autocast(library.impl)
        library.impl("dropout", _dropout, "AutogradCPU")  # type: ignore[no-untyped-call]
    supported: Any = getattr(optimizer, _SUPPORTED)
    patches.put(optimizer, _SUPPORTED, lambda: [*supported(), "cpu"])
    functions: Any = torch._VF
    patches.put(functions, "lstm_cell", _Cell(functions.lstm_cell, _lstm_cell))
    patches.put(functions, "gru_cell", _Cell(functions.gru_cell, _gru_cell))


# -- autocast ------------------------------------------------------------------------------------------------------


def _complete_autocast(put: Any) -> None:
    """Autocast on the CPU narrows what it does on a card, but widens other operations."""
    of: Callable[[str], list[str]] = torch._C._dispatch_get_registrations_for_dispatch_key
    for full in sorted(set(of(_CUDA)) - set(of(_CPU))):
        name, _, overload = full.removeprefix("aten::").partition(".")
        if not name.startswith(_NOT_OF_CPU):
            operation = getattr(getattr(torch.ops.aten, name), overload or "default")
            put(operation, _Cast(operation, name), _CPU)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a kernel was there is known
        for name in sorted(_LEFT_NARROW & {full.removeprefix("aten::") for full in of(_CPU)}):
            put(name, torch.library.fallthrough_kernel, _CPU)


class _Cast:
    """An operation of the CPU under autocast, with its operands in the type that they would have on a card."""

    def __init__(self, operation: Any, name: str) -> None:
        self._operation, self._name = operation, name
        names = [argument.name for argument in operation._schema.arguments]
        self._type_at = names.index("dtype") if "dtype" in names else None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        here = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCPU)
        with torch._C._ExcludeDispatchKeyGuard(here):
            if self._type_at is not None:
                return self._summed(args, kwargs)
            wanted = _wanted_type(self._name, (args, kwargs))
            args, kwargs = tree_map(lambda thing: thing.to(wanted) if _is_cast(thing) else thing, (args, kwargs))
            return self._operation(*args, **kwargs)

    def _summed(self, args: Any, kwargs: Any) -> Any:
        """Sums and their kin read narrow numbers and make wide ones."""
        assert self._type_at is not None
        given = args[self._type_at] if len(args) > self._type_at else kwargs.get("dtype")
        if given is not None or not _is_cast(args[0]):
            return self._operation(*args, **kwargs)
        kernel = _SOFTMAX.get(self._name)
        if kernel is not None and isinstance(args[0], FakeTensor) and args[0].dtype is torch.float16:
            return getattr(torch.ops.aten, kernel)(args[0], args[1], True)
        return self._operation(*args[: self._type_at], **{**kwargs, "dtype": torch.float32})


def _wanted_type(name: str, given: Any) -> torch.dtype:
    if name in _NARROW:
        return torch.get_autocast_dtype("cpu")
    if name not in _ALIKE:
        return torch.float32
    types = {leaf.dtype for leaf in tree_leaves(given) if _is_cast(leaf)}
    return types.pop() if len(types) == 1 else torch.float32


def _is_cast(thing: Any) -> bool:
    return isinstance(thing, torch.Tensor) and thing.is_floating_point() and thing.dtype is not torch.float64


# -- kernels -------------------------------------------------------------------------------------------------------


def _dropout(data: torch.Tensor, p: float, train: bool) -> torch.Tensor:
    """On a card one kernel, which keeps a mask of a byte for each element."""
    is_one = isinstance(data, FakeTensor) and train and 0 < p < 1 and data.numel() > 0
    dropped: torch.Tensor = (
        torch.native_dropout(data, p, train)[0] if is_one else torch.ops.aten.dropout.default.decompose(data, p, train)
    )
    return dropped


class _Cell:
    """On a card the two products, and one kernel for all behind them."""

    def __init__(self, original: Any, fused: Any) -> None:
        self._original, self._fused = original, fused

    def __call__(self, data: Any, hidden: Any, *weights: Any) -> Any:
        is_ours = isinstance(weights[0], FakeTensor)
        return self._fused(data, hidden, *weights) if is_ours else self._original(data, hidden, *weights)


def _lstm_cell(
    data: Any, states: Any, of_data: Any, of_hidden: Any, bias: Any = None, hidden_bias: Any = None
) -> tuple[Any, ...]:
    linear = torch.nn.functional.linear
    gates, hidden_gates = linear(data, of_data), linear(states[0], of_hidden)
    found = torch.ops.aten._thnn_fused_lstm_cell(gates, hidden_gates, states[1], bias, hidden_bias)
    return tuple(found[:2])


def _gru_cell(data: Any, hidden: Any, of_data: Any, of_hidden: Any, bias: Any = None, hidden_bias: Any = None) -> Any:
    linear = torch.nn.functional.linear
    gates, hidden_gates = linear(data, of_data), linear(hidden, of_hidden)
    return torch.ops.aten._thnn_fused_gru_cell(gates, hidden_gates, hidden, bias, hidden_bias)[0]
