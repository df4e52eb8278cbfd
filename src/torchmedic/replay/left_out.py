"""Counts the steps that `--on-sick skip` leaves out, and names the samples they were left out for."""

from __future__ import annotations

from typing import Any

import torch

from torchmedic.facts import Skipped
from torchmedic.probes.objects.spreads import tensors_in
from torchmedic.record import Recorder
from torchmedic.replay.beginnings import Handed

_MOST_KEPT = 100


def leave_out(recorder: Recorder, step: int, handed: tuple[Handed, ...]) -> None:
    """Note a step whose update is withheld; `handed` are the batches that were fetched up to it, newest last."""
    before = recorder.skipped
    if before.count and before.last == step:
        return  # another optimizer of the same step
    found = dict.fromkeys((*before.samples, *_bad_samples(handed)))
    recorder.skipped = Skipped(
        count=before.count + 1,
        steps=(*before.steps, step)[:_MOST_KEPT],
        last=step,
        samples=tuple(sorted(found))[:_MOST_KEPT],
    )


def _bad_samples(handed: tuple[Handed, ...]) -> list[int]:
    """The data set's indices of the rows of a batch that hold NaN or infinity."""
    for given in reversed(handed):
        indices = given.indices if isinstance(given.indices, (list, tuple)) else ()
        rows = {row for _, tensor in tensors_in(given.batch, "batch") for row in _bad_rows(tensor, len(indices))}
        if rows:
            return [int(indices[row]) for row in rows]
    return []


def _bad_rows(tensor: torch.Tensor, count: int) -> list[int]:
    if not count or not tensor.is_floating_point() or tensor.dim() == 0 or len(tensor) != count:
        return []
    bad: Any = ~torch.isfinite(tensor.detach()).reshape(count, -1).all(1)
    return [int(row) for row in bad.nonzero().reshape(-1)]
