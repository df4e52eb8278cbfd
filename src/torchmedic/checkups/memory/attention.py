"""Which kernel a card takes for `scaled_dot_product_attention`, and what that kernel saves."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

from torchmedic.checkups.memory.values import without_value

if TYPE_CHECKING:
    from torchmedic.checkups.memory.cards import Card

aten = torch.ops.aten
_HALVES = (torch.float16, torch.bfloat16)
_MOST_FLASH = 256
_CUDNN_FIRST = ((9, 0), (10, 0))
_CUDNN_SINCE = [2, 10]


class Attention:
    """Stands in for the dispatcher of `scaled_dot_product_attention`, which a build without CUDA lacks."""

    def __init__(self, original: Any, card: Card, device: str) -> None:
        self._original = original
        self._card = card
        self._device = device

    def __call__(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        attn_mask: torch.Tensor | None = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
    ) -> torch.Tensor:
        if not isinstance(query, FakeTensor) or query.device.type != self._device:
            result: torch.Tensor = self._original(
                query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
            )
            return result
        if torch.is_autocast_enabled(self._device):
            query, key, value = (t.to(torch.get_autocast_dtype(self._device)) for t in (query, key, value))
        if attn_mask is not None:
            attn_mask = without_value(attn_mask)
        if attn_mask is not None and attn_mask.dtype is torch.bool:
            attn_mask = _as_bias(attn_mask, query)
        if attn_mask is not None and attn_mask.dtype is not query.dtype:
            attn_mask = attn_mask.to(query.dtype)
        kernel = self._kernel(query, key, value, attn_mask, enable_gqa)
        with torch.autocast("cuda", enabled=False):  # what is cast is cast; the products of matrices inside are not
            attended: torch.Tensor = kernel(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)
        return attended

    def _prefers_cudnn(self) -> bool:
        """Newer versions of torch ask cuDNN first on the large cards of two generations.

        What it makes lies in memory as the query does, so that a layer which joins the heads again needs no copy.
        """
        flags: Any = torch.backends.cuda
        is_meant = self._card.capability in _CUDNN_FIRST and _version() >= _CUDNN_SINCE
        return is_meant and bool(flags.cudnn_sdp_enabled())

    def _kernel(
        self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None, grouped: bool
    ) -> Any:
        flags: Any = torch.backends.cuda
        ranks = query.dim() == key.dim() == value.dim() == 4
        head = query.shape[-1]
        if not all(_is_read_along(tensor) for tensor in (query, key, value)):
            return _math
        half = query.dtype in _HALVES
        new_enough = self._card.capability[0] >= 8
        same = head == key.shape[-1] == value.shape[-1] and head <= _MOST_FLASH
        if ranks and half and same and head % 8 == 0 and not grouped and self._prefers_cudnn() and _is_constant(mask):
            return _cudnn
        if ranks and half and mask is None and same and new_enough and flags.flash_sdp_enabled():
            return _flash
        widths, learned_bias = (head, value.shape[-1]), mask is not None and mask.requires_grad
        suits = suits_fused(self._card, query.dtype, widths, learned_bias=learned_bias)
        if suits and ranks and head == key.shape[-1] and not grouped and flags.mem_efficient_sdp_enabled():
            return _efficient
        return _math


def suits_fused(card: Card, dtype: torch.dtype, widths: Iterable[int], *, learned_bias: bool) -> bool:
    """Whether a kernel that keeps no matrix computes heads of these widths, of queries and of values."""
    half = dtype in _HALVES
    step = (8 if half else 4) if card.capability[0] >= 8 else (8 if half else 1)
    return all(width % step == 0 for width in widths) and not learned_bias and dtype is not torch.float64


def _version() -> list[int]:
    return [int(part) for part in torch.__version__.split(".")[:2]]


def _is_read_along(tensor: torch.Tensor) -> bool:
    """Whether the numbers of one head and position lie side by side, as every fused kernel wants them."""
    return tensor.stride(-1) == 1 or tensor.shape[-1] == 1


def _is_constant(mask: torch.Tensor | None) -> bool:
    return mask is None or not mask.requires_grad


def _as_bias(mask: torch.Tensor, query: torch.Tensor) -> torch.Tensor:
    """A mask of truth values becomes one of zeros and minus infinity, of its own shape."""
    return torch.zeros_like(mask, dtype=query.dtype).masked_fill_(mask.logical_not(), float("-inf"))


def _flash(q: Any, k: Any, v: Any, mask: Any, dropout: float, causal: bool, scale: float | None, grouped: bool) -> Any:
    width = q.shape[-1]
    scale = scale if scale is not None else width**-0.5
    if width % 8:
        q, k, v = (torch.nn.functional.pad(t, (0, 8 - width % 8)) for t in (q, k, v))
    out = aten._scaled_dot_product_flash_attention(q, k, v, dropout, causal, scale=scale)[0]
    return out[..., :width] if width % 8 else out


def _cudnn(q: Any, k: Any, v: Any, mask: Any, dropout: float, causal: bool, scale: float | None, grouped: bool) -> Any:
    if mask is not None:
        mask = mask.expand(q.shape[0], q.shape[1], q.shape[2], k.shape[2])
    learns = torch.is_grad_enabled() and any(t.requires_grad for t in (q, k, v))
    return aten._scaled_dot_product_cudnn_attention(q, k, v, mask, learns, dropout, causal, False, scale=scale)[0]


def _efficient(
    q: Any, k: Any, v: Any, mask: Any, dropout: float, causal: bool, scale: float | None, grouped: bool
) -> Any:
    if mask is not None:
        mask = _aligned(mask).expand(q.shape[0], q.shape[1], q.shape[2], k.shape[2])
    learns = torch.is_grad_enabled() and any(t.requires_grad for t in (q, k, v))
    return aten._scaled_dot_product_efficient_attention(q, k, v, mask, learns, dropout, causal, scale=scale)[0]


def _aligned(mask: torch.Tensor) -> torch.Tensor:
    """Rows of the bias begin at multiples of sixteen elements: others are copied into a wider tensor."""
    length = mask.shape[-1]
    if length % 16 == 0:
        return mask
    return torch.nn.functional.pad(mask, (0, 16 - length % 16))[..., :length]


def _math(q: Any, k: Any, v: Any, mask: Any, dropout: float, causal: bool, scale: float | None, grouped: bool) -> Any:
    return aten._scaled_dot_product_attention_math(q, k, v, mask, dropout, causal, scale=scale, enable_gqa=grouped)[0]
