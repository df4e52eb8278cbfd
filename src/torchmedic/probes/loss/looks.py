"""What can be read off the two arguments of a loss: sums, classes, ranges, and the loss of a constant answer."""

from __future__ import annotations

import math
from typing import Any

import torch

MOST_ELEMENTS = 4_000_000
_MOST_CLASSES = 50
_CLOSE = 2e-3
REACH = {
    "sigmoid": (0.0, 1.0),
    "tanh": (-1.0, 1.0),
    "softmax": (0.0, 1.0),
    "relu": (0.0, math.inf),
    "softplus": (0.0, math.inf),
    "hardsigmoid": (0.0, 1.0),
    "hardtanh": (-1.0, 1.0),
    "relu6": (0.0, 6.0),
    "exp": (0.0, math.inf),
    "log_softmax": (-math.inf, 0.0),
    "logsigmoid": (-math.inf, 0.0),
}


def plain(tensor: torch.Tensor) -> torch.Tensor | None:
    """The values as a dense tensor in this process's memory; None where that is impossible or too much."""
    if tensor.layout != torch.strided or tensor.is_complex() or not 0 < tensor.numel() <= MOST_ELEMENTS:
        return None
    return tensor.detach().to("cpu", torch.float64)


def sums_to_one(values: torch.Tensor) -> tuple[tuple[int, ...], bool]:
    """The dimensions along which values are probabilities (or logarithms of some, then True)."""
    if values.ndim == 0 or not bool(torch.isfinite(values).all()):
        return (), False
    low, high = (float(v) for v in torch.aminmax(values))
    if low >= -1e-6 and high <= 1 + _CLOSE:
        return tuple(d for d in range(values.ndim) if _all_ones(values.sum(d)) and values.shape[d] > 1), False
    if high <= 1e-6:
        return tuple(d for d in range(values.ndim) if _all_ones(values.exp().sum(d)) and values.shape[d] > 1), True
    return (), False


def _all_ones(sums: torch.Tensor) -> bool:
    return bool(((sums - 1).abs() < _CLOSE).all())


def class_counts(target: torch.Tensor, ignore: int) -> tuple[dict[str, int], float]:
    """How often each class occurs in an index target, most frequent first, and the share that is ignored."""
    flat = target.detach().to("cpu").flatten()
    kept = flat[flat != ignore]
    values, counts = torch.unique(kept, return_counts=True)
    order = counts.argsort(descending=True)[:_MOST_CLASSES]
    found = {str(int(values[i])): int(counts[i]) for i in order}
    return found, 1 - kept.numel() / max(1, flat.numel())


def share_outside(target: torch.Tensor, reach: tuple[float, float]) -> float:
    """The share of targets beyond a range by more than a little of their own spread."""
    spread = float(target.std()) if target.numel() > 1 else 0.0
    margin = 0.15 * spread
    beyond = (target < reach[0] - margin) | (target > reach[1] + margin)
    return float(beyond.double().mean())


def baseline(function: str, target: torch.Tensor, counts: dict[str, int]) -> float | None:
    """The least loss that an answer which never changes can have on these targets."""
    if function in ("cross_entropy", "nll_loss") and counts:
        total = sum(counts.values())
        return -sum(n / total * math.log(n / total) for n in counts.values())
    if function == "mse_loss":
        return float(target.var(dim=0, unbiased=False).mean())
    if function == "l1_loss":
        return float((target - target.median(dim=0).values).abs().mean())
    if function in ("binary_cross_entropy_with_logits", "binary_cross_entropy"):
        rate = target.mean(dim=0).clamp(1e-12, 1 - 1e-12)
        return float(-(rate * rate.log() + (1 - rate) * (1 - rate).log()).mean())
    return None


def mixed_by_view(trace: Any, index: int | None, classes: int) -> tuple[Any, tuple[int, ...]] | None:
    """A view that made rows of `classes` numbers out of a tensor that has its classes in dimension 1.

    `(B, C, L).view(-1, C)` cuts along memory, so that a row holds several positions of one class.
    """
    while index is not None:
        call = trace.calls[index]
        if call.name in ("view", "reshape") and call.reads:
            before = call.reads[0].shape
            is_cut = len(call.shape) == 2 and call.shape[1] == classes and len(before) > 2
            if is_cut and before[1] == classes and before[-1] != classes and classes > 1:
                return call, before
        if call.name not in ("view", "reshape", "contiguous", "float") or not call.reads:
            return None
        index = call.reads[0].maker
    return None


def made_pairs(first: torch.Tensor, second: torch.Tensor) -> bool:
    """Same elements but for dimensions of size 1, in another number of dimensions, so that all pairs are made."""
    if first.ndim == second.ndim or not first.ndim or not second.ndim or first.numel() < 2:
        return False
    squeezed = [tuple(n for n in t.shape if n != 1) for t in (first, second)]
    if squeezed[0] != squeezed[1]:
        return False
    return math.prod(together(first, second)) > max(first.numel(), second.numel())


def together(first: torch.Tensor, second: torch.Tensor) -> tuple[int, ...]:
    """The shape that two tensors broadcast to; nothing where they do not."""
    try:
        return tuple(torch.broadcast_shapes(first.shape, second.shape))  # type: ignore[no-untyped-call]
    except RuntimeError:
        return (0,)
