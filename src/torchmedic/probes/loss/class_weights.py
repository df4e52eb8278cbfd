"""The weights by which a loss counts its classes, beside how often each class is there."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from torchmedic.facts import ClassWeights, Location
from torchmedic.probes.events.modules import Modules
from torchmedic.probes.graph.calls import Call
from torchmedic.probes.source.argument_lines import argument_made_at

_MOST_CLASSES = 100
_MOST_LABELS = 4_000_000
# For each function: the argument, its position in a call of the function, and in that of the layer.
_ARGUMENTS = {
    "binary_cross_entropy_with_logits": ("pos_weight", 6, 4),
    "cross_entropy": ("weight", 2, 0),
    "nll_loss": ("weight", 2, 0),
}


def class_weights(
    call: Call, modules: Modules, step: int, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> ClassWeights | None:
    """What a call of a loss was given for weights, and what its labels are; None where it was given none."""
    if call.name not in _ARGUMENTS:
        return None
    argument, position, in_layer = _ARGUMENTS[call.name]
    weights = kwargs.get(argument, args[position] if len(args) > position else None)
    target = args[1] if len(args) > 1 else kwargs.get("target")
    if not isinstance(weights, torch.Tensor) or not isinstance(target, torch.Tensor) or weights.requires_grad:
        return None
    if not 0 < weights.numel() <= _MOST_CLASSES or not 0 < target.numel() <= _MOST_LABELS:
        return None
    flat = weights.detach().flatten().cpu().double()
    ignored = kwargs.get("ignore_index", -100)
    found = _positives(target, flat) if argument == "pos_weight" else _classes(target, flat, int(ignored))
    if found is None:
        return None
    place = call.place.location() if call.place is not None else None
    built = modules.born_at(call.layer) if isinstance(call.layer, nn.Module) else None
    return ClassWeights(
        step=step,
        function=call.name,
        argument=argument,
        weights=tuple(flat.tolist()),
        counts=found[0],
        total=found[1],
        where=built or place,
        made=_made(call, built or place, argument, position if built is None else in_layer),
    )


def _made(call: Call, given: Location | None, argument: str, position: int) -> Location | None:
    name = type(call.layer).__name__ if call.layer is not None else call.name
    return argument_made_at(given, name, argument, position)


def _positives(target: torch.Tensor, weights: torch.Tensor) -> tuple[tuple[int, ...], int] | None:
    """The positive labels of each column that has a weight of its own, and how many labels each column has."""
    labels = target.detach().cpu()
    if not bool(((labels == 0) | (labels == 1)).all()):
        return None
    if len(weights) == 1:
        return (int(labels.sum()),), labels.numel()
    if labels.ndim < 2 or labels.shape[-1] != len(weights):
        return None
    rows = labels.reshape(-1, len(weights))
    return tuple(int(count) for count in rows.sum(0).tolist()), len(rows)


def _classes(target: torch.Tensor, weights: torch.Tensor, ignored: int) -> tuple[tuple[int, ...], int] | None:
    """The labels of each class."""
    labels = target.detach().cpu().flatten()
    if labels.is_floating_point() or labels.is_complex() or len(weights) < 2:
        return None
    kept = labels[labels != ignored].long()
    if not len(kept) or int(kept.min()) < 0 or int(kept.max()) >= len(weights):
        return None
    return tuple(torch.bincount(kept, minlength=len(weights)).tolist()), len(kept)
