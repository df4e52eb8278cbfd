"""Finds the first token, label or length that lies outside what is allowed, while the frames are still alive."""

from __future__ import annotations

import traceback
from dataclasses import replace
from types import FrameType
from typing import Any

import torch

from torchmedic.facts import IndexOutside, Location
from torchmedic.probes.crash.shifted_ids import shifted_ids
from torchmedic.probes.data.dataset_lines import returned_by
from torchmedic.probes.events.loaders import Loaders
from torchmedic.record import Probe


class IndicesOutside(Probe):
    """Looks at the arguments of `embedding`, of the class losses and of packing in the failing frames."""

    name = "indices-outside"

    def __init__(self, loaders: Loaders) -> None:
        self._loaders = loaders

    def on_crash(self, error: BaseException) -> None:
        if not isinstance(error, (IndexError, RuntimeError)):
            return
        for frame, _ in reversed(list(traceback.walk_tb(error.__traceback__))):
            found = _embedding(frame) or _labels(frame) or _empty_sequence(frame)
            if found is not None:
                sample = self._sample(found)
                made = self._made_at(found) if sample is not None else None
                self.recorder.observe(replace(found, sample=sample, made=made, step=self.recorder.step + 1))
                self._look_for_shift(error, frame, found)
                return

    def _look_for_shift(self, error: BaseException, frame: FrameType, found: IndexOutside) -> None:
        ids = frame.f_locals.get("input" if found.what == "embedding" else "target")
        is_table = found.what in ("embedding", "label") and isinstance(ids, torch.Tensor)
        shifted = shifted_ids(error, ids, found.bound) if is_table and ids is not None else None
        if shifted is not None:
            self.recorder.observe(replace(shifted, step=self.recorder.step + 1))

    def _made_at(self, found: IndexOutside) -> Location | None:
        """The line of the user's data set that gives the labels of a sample, which come last."""
        kind = self._loaders.handed_from
        return returned_by(kind, -1) if found.what == "label" and kind is not None else None

    def _sample(self, found: IndexOutside) -> int | None:
        """The data set's number of the row, where the rows of the tensor are those of the batch handed out last."""
        indices = self._loaders.handed
        if not isinstance(indices, (list, tuple)) or not found.position or len(indices) != found.rows:
            return None
        index = indices[found.position[0]]
        return index if isinstance(index, int) else None


def _embedding(frame: FrameType) -> IndexOutside | None:
    if frame.f_code.co_name not in ("embedding", "embedding_bag") or "torch" not in frame.f_code.co_filename:
        return None
    ids, weight = frame.f_locals.get("input"), frame.f_locals.get("weight")
    if not isinstance(ids, torch.Tensor) or not isinstance(weight, torch.Tensor):
        return None
    if ids.dim() == 2 and weight.is_floating_point() and ids.is_floating_point():
        ids, weight = weight, ids
    return _first_outside("embedding", ids, int(weight.shape[0]), None)


def _labels(frame: FrameType) -> IndexOutside | None:
    if frame.f_code.co_name not in ("cross_entropy", "nll_loss") or "torch" not in frame.f_code.co_filename:
        return None
    logits, target = frame.f_locals.get("input"), frame.f_locals.get("target")
    if not isinstance(logits, torch.Tensor) or not isinstance(target, torch.Tensor) or not logits.dim():
        return None
    ignored = frame.f_locals.get("ignore_index")
    classes = int(logits.shape[1] if logits.dim() > 1 else logits.shape[0])
    return _first_outside("label", target, classes, ignored if isinstance(ignored, int) else None)


def _empty_sequence(frame: FrameType) -> IndexOutside | None:
    """The first sequence without an element that was to be packed, as the batch counts before packing sorts it."""
    if frame.f_code.co_name != "pack_padded_sequence" or "torch" not in frame.f_code.co_filename:
        return None
    lengths, order = frame.f_locals.get("lengths"), frame.f_locals.get("sorted_indices")
    if not isinstance(lengths, torch.Tensor) or lengths.dim() != 1 or lengths.device.type != "cpu":
        return None
    if isinstance(order, torch.Tensor) and order.device.type == "cpu":
        lengths = torch.empty_like(lengths).index_copy_(0, order, lengths)
    empty = (lengths <= 0).nonzero().flatten().tolist()
    if not empty:
        return None
    return IndexOutside(
        what="length",
        value=int(lengths[empty[0]]),
        bound=1,
        position=(empty[0],),
        count=len(empty),
        total=len(lengths),
        rows=len(lengths),
        minimum=int(lengths.min()),
        maximum=int(lengths.max()),
    )


def _first_outside(what: str, values: Any, bound: int, ignored: int | None) -> IndexOutside | None:
    if values.is_floating_point() or values.device.type != "cpu" or not values.numel():
        return None
    outside = (values < 0) | (values >= bound)
    kept = values
    if ignored is not None:
        outside &= values != ignored
        kept = values[values != ignored]
    if not bool(outside.any()):
        return None
    places = outside.nonzero()
    first = tuple(int(n) for n in places[0])
    return IndexOutside(
        what=what,
        value=int(values[first]),
        bound=bound,
        position=first,
        count=len(places),
        total=int(values.numel()),
        rows=len(values) if values.dim() else 0,
        minimum=int(kept.min()),
        maximum=int(kept.max()),
        ignored=ignored if bool((values == (ignored or 0)).any()) else None,
    )
