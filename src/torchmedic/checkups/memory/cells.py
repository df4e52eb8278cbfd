"""GRU cells as a card computes them: one kernel after the two products, which keeps what backward needs."""

from __future__ import annotations

from typing import Any

import torch

# Values that the kernel keeps of each unit, and the gates of one.
_KEPT, _GATES = 5, 3

_registered: list[torch.library.Library] = []


def install_cells() -> None:
    """Tell torch the shapes of kernels that it has for a card alone; of those of LSTM cells it knows them."""
    if _registered:
        return
    library = torch.library.Library("aten", "IMPL")  # type: ignore[no-untyped-call]
    for name, shapes in (("_thnn_fused_gru_cell", _forward), ("_thnn_fused_gru_cell_backward", _backward)):
        if not torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{name}", "Meta"):
            library.impl(name, shapes, "Meta")  # type: ignore[no-untyped-call]
    _registered.append(library)


def _forward(
    _gates: Any, _hidden_gates: Any, hidden: Any, _bias: Any = None, _hidden_bias: Any = None
) -> tuple[Any, ...]:
    return torch.empty_like(hidden), hidden.new_empty(hidden.shape[0], _KEPT * hidden.shape[1])


def _backward(gradient: Any, kept: Any, has_bias: bool) -> tuple[Any, ...]:
    samples, width = kept.shape[0], kept.shape[1] // _KEPT * _GATES
    gates, hidden_gates = (kept.new_empty(samples, width) for _ in range(2))
    biases = [kept.new_empty(width if has_bias else 0) for _ in range(2)]
    return gates, hidden_gates, torch.empty_like(gradient), *biases
