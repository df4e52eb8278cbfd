"""What the first batch of every loader holds: the reader of a report sees what the model is fed."""

from __future__ import annotations

import itertools
import sys
from typing import Any

import torch

from torchmedic.facts import BatchField
from torchmedic.probes.objects.rows import names_of_loader
from torchmedic.probes.objects.spreads import histogram, rows_as_text, some_values, tensors_in
from torchmedic.probes.objects.values import type_name
from torchmedic.record import Probe, Recorder

_MOST_LOADERS = 4
_MOST_FIELDS = 12
_ROWS = 3


class FirstBatches(Probe):
    """Looks once at each of the first loaders."""

    name = "first-batches"

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._seen: set[int] = set()

    def on_batch(self, batch: Any, iterator: Any) -> None:
        loader = id(iterator._index_sampler)
        if loader in self._seen or len(self._seen) >= _MOST_LOADERS or self.recorder.clock_is_held:
            return
        self._seen.add(loader)
        names = names_of_loader(iterator._index_sampler, sys._getframe(1))
        named = names[-1] if names else type_name(iterator._dataset)
        for field, tensor in itertools.islice(tensors_in(batch, "batch"), _MOST_FIELDS):
            seen = _field(named, field, tensor, self.recorder.step)
            if seen is not None:
                self.recorder.observe(seen)


def _field(loader: str, field: str, tensor: torch.Tensor, step: int) -> BatchField | None:
    values = some_values(tensor)
    if values is None:
        return None
    finite = values[torch.isfinite(values)]
    low, high = (float(end) for end in torch.aminmax(finite)) if len(finite) else (None, None)
    return BatchField(
        step=step,
        loader=loader,
        field=field,
        shape=tuple(tensor.shape),
        dtype=str(tensor.dtype).removeprefix("torch."),
        nan=int(torch.isnan(values).sum()),
        inf=int(torch.isinf(values).sum()),
        minimum=low,
        mean=float(finite.mean()) if len(finite) else None,
        maximum=high,
        histogram=histogram(values),
        rows=rows_as_text(tensor, range(min(_ROWS, len(tensor)))) if tensor.ndim else (),
    )
