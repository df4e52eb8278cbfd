"""Where rows of numbers are filled up to one length: by a mask of the batch, or by what stands at their ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

MOST_ELEMENTS = 1_000_000
_LEAST_KINDS = 6
_LEAST_ROWS = 4

Fields = dict[str | int, torch.Tensor]


def fields_of(batch: Any) -> Fields:
    """The tables of a batch, by the keys of a mapping or by their position."""
    items = batch.items() if isinstance(batch, Mapping) else enumerate(tree_leaves(batch))
    return {
        key: field.detach()
        for key, field in items
        if isinstance(field, torch.Tensor) and field.ndim == 2 and 0 < field.numel() <= MOST_ELEMENTS
    }


def masks_in(field: torch.Tensor) -> Iterator[torch.Tensor]:
    """What may be a mask of padding: zeros and ones of which the ones, or the zeros, fill up the ends."""
    if field.dtype == torch.bool or bool(((field == 0) | (field == 1)).all()):
        ones = field.cpu() == 1
        yield from (mask for mask in (ones, ~ones) if is_at_an_end(mask))


def is_at_an_end(mask: torch.Tensor) -> bool:
    """Padding fills up the ends of some rows (or columns), or their beginnings, and leaves something in each."""
    if not bool(mask.any()):
        return False
    for lying in (mask, mask.T):
        counts = lying.sum(1)
        if not bool((counts < lying.shape[1]).all()):
            continue
        at = torch.arange(lying.shape[1], device=lying.device)
        if torch.equal(lying, at >= (lying.shape[1] - counts)[:, None]) or torch.equal(lying, at < counts[:, None]):
            return True
    return False


def is_no_word(ids: torch.Tensor, mask: torch.Tensor) -> bool:
    """A token that stands at all masked places and nowhere else is no word."""
    there = ids[mask]
    return len(there) > 0 and bool((there == there[0]).all()) and not bool((ids[~mask] == there[0]).any())


def is_filled_up(field: torch.Tensor) -> bool:
    return not field.is_floating_point() and field.dtype != torch.bool and filling(field.cpu()) is not None


def filling(ids: torch.Tensor) -> torch.Tensor | None:
    """Where rows of different length go on with one number behind the one that ends every one of them.

    Both stand nowhere else, so that the first of them can only be padding: that a row is over is said before it.
    """
    pad = ids[:, -1].mode().values
    mask = ids == pad
    lengths = (~mask).sum(1)
    is_short = lengths < ids.shape[1]
    at = torch.arange(ids.shape[1], device=ids.device)
    if int(is_short.sum()) < _LEAST_ROWS or bool((lengths == 0).any()) or len(torch.unique(lengths[is_short])) < 2:
        return None
    if not torch.equal(mask, at >= lengths[:, None]) or len(torch.unique(ids)) < _LEAST_KINDS:
        return None
    last = ids.gather(1, (lengths - 1)[:, None])[is_short]
    ends = ids == last[0]
    is_end = bool((last == last[0]).all()) and torch.equal(ends.nonzero()[:, 1], lengths[ends.any(1)] - 1)
    return mask if is_end and bool(ends.any(1)[is_short].all()) else None
