"""What cuDNN's convolutions take for themselves: copies with the channels last, for tensor cores, and sums in parts."""

from __future__ import annotations

import math
from typing import Any

import torch

# Read off the traces of an H200: a gradient of the weights is summed in parts so that about so many blocks are busy, a
# block for each filter position and each 128 channels of either side.
_BLOCKS = 118
_CHANNELS_OF_BLOCK = 128
_MOST_PARTS = 15
_FLOAT = 4


def forward_workspace(args: tuple[Any, ...], out: torch.Tensor) -> int:
    """Bytes that the forward kernel takes: copies of data, weight and result."""
    data, weight, transposed, groups = args[0], args[1], args[6], args[8]
    if groups != 1 or not _is_copied(data):
        return 0
    step = _step(data)
    if _channels(weight, transposed)[0] % step:
        return 0
    if math.prod(weight.shape[2:]) == 1:
        # Products of matrices: in half precision the result alone is copied.
        return _padded(out, 1, step) if data.element_size() == 2 and out.shape[1] % step == 0 else 0
    return _copies(data, out, weight, step)


def backward_workspaces(args: tuple[Any, ...]) -> list[int]:
    """Bytes for the gradient of the data, then for that of the weight, which is summed in parts."""
    grad, data, weight, transposed, groups, wanted = args[0], args[1], args[2], args[7], args[9], args[10]
    if groups != 1 or not _is_copied(data):
        return []
    step = _step(data)
    copies = _copies(data, grad, weight, step)
    given, made = _channels(weight, transposed)
    narrow = given % step or made % step
    sizes = (
        [0 if data.element_size() == 2 and narrow and math.prod(weight.shape[2:]) == 1 else copies] if wanted[0] else []
    )
    return [*sizes, copies + _parts(weight, given, made)] if wanted[1] else sizes


def _parts(weight: torch.Tensor, given: int, made: int) -> int:
    positions = math.prod(weight.shape[2:])
    blocks = positions * -(-given // _CHANNELS_OF_BLOCK) * -(-made // _CHANNELS_OF_BLOCK)
    count = min(_MOST_PARTS, _BLOCKS // blocks)
    return count * weight.numel() * _FLOAT if count > 1 else 0


def _is_copied(data: torch.Tensor) -> bool:
    """Tensor cores want channels last; data that lie so, or are too exact for them, are taken as they are."""
    if data.dim() != 4 or data.dtype is torch.float64 or data.is_contiguous(memory_format=torch.channels_last):
        return False
    return data.dtype is not torch.float32 or torch.backends.cudnn.allow_tf32


def _step(data: torch.Tensor) -> int:
    """Channels are read so many at once: sixteen bytes."""
    return 16 // data.element_size()


def _channels(weight: torch.Tensor, transposed: bool) -> tuple[int, int]:
    """Channels that come in and go out."""
    first, second = weight.shape[0], weight.shape[1]
    return (first, second) if transposed else (second, first)


def _copies(data: torch.Tensor, out: torch.Tensor, weight: torch.Tensor, step: int) -> int:
    return _padded(data, 1, step) + _padded(out, 1, step) + _bytes(weight)


def _padded(tensor: torch.Tensor, axis: int, step: int) -> int:
    """Bytes of a copy whose channels are filled up."""
    channels = tensor.shape[axis]
    return _bytes(tensor) // max(channels, 1) * (-(-channels // step) * step)


def _bytes(tensor: torch.Tensor) -> int:
    return tensor.numel() * tensor.element_size()
