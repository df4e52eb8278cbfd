"""Notes a batch that is None, and what it was made of: the line that uses it is far from the one that made it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from torchmedic.facts import Location, RefetchedSample, SampleField
from torchmedic.probes.crash.refetch import fetch_again
from torchmedic.probes.events.loaders import Loaders, below_subsets, getitem_of
from torchmedic.probes.objects.values import type_name
from torchmedic.probes.source.frames import is_user_file, location
from torchmedic.record import Probe

_MOST_INDICES = 256


class NoneBatches(Probe):
    """Keeps the last batch in mind while it is None; it is looked into when the script dies of a None."""

    name = "none-batches"

    def __init__(self, loaders: Loaders) -> None:
        self._loaders = loaders
        self._kept: tuple[Any, Any, list[Any], Location | None] | None = None

    def on_batch(self, batch: Any, iterator: Any) -> None:
        self._kept = None if batch is not None else self._described(iterator)

    def _described(self, iterator: Any) -> tuple[Any, Any, list[Any], Location | None]:
        indices = self._loaders.batch_facts(iterator)[0]
        listed = list(indices) if isinstance(indices, (list, tuple)) else [] if indices is None else [indices]
        collate = iterator._collate_fn if iterator._auto_collation else None
        return iterator._dataset, collate, listed, self._loaders.built_for(iterator)

    def on_crash(self, error: BaseException) -> None:
        if self._kept is None or "NoneType" not in str(error):
            return
        dataset, collate, indices, built = self._kept
        base, _ = below_subsets(dataset, [])
        fields: tuple[SampleField, ...] = ()
        if indices and hasattr(os, "fork"):
            fields = fetch_again(base, indices, collate).fields
        self.recorder.observe(
            RefetchedSample(
                indices=tuple(i for i in indices[:_MOST_INDICES] if isinstance(i, int)),
                dataset=type_name(base),
                loader_built=built,
                getitem=getitem_of(base),
                collate=getattr(collate, "__qualname__", type_name(collate)) if collate is not None else "",
                collate_at=_defined(collate),
                has_own_collate=_defined(collate) is not None,
                batch_is_none=True,
                fields=fields,
            )
        )


def _defined(collate: Callable[..., Any] | None) -> Location | None:
    """The first line of a function of the user's, or of the call of an object of a class of theirs."""
    code = getattr(collate if hasattr(collate, "__code__") else type(collate).__call__, "__code__", None)
    if code is None or not is_user_file(code.co_filename):
        return None
    return location(code.co_filename, code.co_firstlineno, code.co_qualname)
