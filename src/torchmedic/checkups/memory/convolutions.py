"""What cuDNN's convolutions take for themselves: copies with the channels last, for tensor cores, and sums in parts.

Read off traces of an H200. In three dimensions some kernels write their result as it is wanted, and take no copy of it:
which ones is not known, so that the copies are the most that can be taken.
"""

from __future__ import annotations

import math
from typing import Any

import torch

# A gradient of the weights is summed in parts so that about so many blocks are busy, a
# block for each filter position and each 128 channels of either side.
_BLOCKS = 118
_CHANNELS_OF_BLOCK = 128
_MOST_PARTS = 15
_FLOAT = 4
_CHANNELS_LAST = {4: torch.channels_last, 5: torch.channels_last_3d}


def forward_workspace(args: tuple[Any, ...], out: torch.Tensor) -> int:
    """Bytes that the forward kernel takes: copies of data, weight and result."""
    data, weight, transposed, groups = args[0], args[1], args[6], args[8]
    if groups != 1 or not _is_copied(data):
        return 0
    step = _step(data)
    if _channels(weight, transposed)[0] % step:
        return 0
    if _is_product(data, out, weight):
        # In half precision the result alone is copied.
        return _padded(out, 1, step) if data.element_size() == 2 and out.shape[1] % step == 0 else 0
    return _copies(data, out, weight, step)


def backward_workspaces(args: tuple[Any, ...]) -> list[int]:
    """Bytes for the gradient of the data, then for that of the weight, which is summed in parts."""
    grad, data, weight, transposed, groups, wanted = args[0], args[1], args[2], args[7], args[9], args[10]
    if groups != 1 or not _is_copied(data) or _is_plain_product(data, grad, weight):
        return []
    copies = _copies(data, grad, weight, _step(data))
    given, made = _channels(weight, transposed)
    sizes = [copies] if wanted[0] else []
    return [*sizes, copies + _parts(weight, given, made)] if wanted[1] else sizes


def _is_product(data: torch.Tensor, out: torch.Tensor, weight: torch.Tensor) -> bool:
    """Whether it is a product of matrices; a volume that is thinned out on the way is none."""
    return math.prod(weight.shape[2:]) == 1 and (data.dim() == 4 or data.shape[2:] == out.shape[2:])


def _is_plain_product(data: torch.Tensor, grad: torch.Tensor, weight: torch.Tensor) -> bool:
    """Whether its derivative is one as well, of what lies there already: in half precision, and of volumes."""
    return _is_product(data, grad, weight) and (data.element_size() == 2 or data.dim() == 5)


def _parts(weight: torch.Tensor, given: int, made: int) -> int:
    positions = math.prod(weight.shape[2:])
    blocks = positions * -(-given // _CHANNELS_OF_BLOCK) * -(-made // _CHANNELS_OF_BLOCK)
    count = min(_MOST_PARTS, _BLOCKS // blocks)
    return count * weight.numel() * _FLOAT if count > 1 else 0


def _is_copied(data: torch.Tensor) -> bool:
    """Tensor cores want channels last; data that lie so, or are too exact for them, are taken as they are."""
    layout = _CHANNELS_LAST.get(data.dim())
    if data.dtype is torch.float64 or (layout is not None and data.is_contiguous(memory_format=layout)):
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
