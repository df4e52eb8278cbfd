"""From which file a tensor was loaded: `torch.load` remembered for as long as its tensors live."""

from __future__ import annotations

import functools
import os
import weakref
from collections.abc import Iterator
from typing import Any, ClassVar

import torch

from torchmedic.probes.events.patching import Patches, frame_hidden
from torchmedic.probes.graph.trace import storage_key
from torchmedic.record import Probe, Recorder, shielded

_MOST_TENSORS = 50_000
_MOST_PER_FILE = 2_000


class LoadedFiles(Probe):
    """Wraps `torch.load` and keeps, by storage, the path behind every tensor of numbers."""

    name = "loaded-files"
    files: ClassVar[dict[int, tuple[weakref.ref[torch.Tensor], str]]] = {}

    def install(self, recorder: Recorder) -> None:
        super().install(recorder)
        self._patches = Patches()
        original = torch.load
        note = shielded(self)(self._note)

        @functools.wraps(original)
        def load(f: Any, *args: Any, **kwargs: Any) -> Any:
            with frame_hidden:
                result = original(f, *args, **kwargs)
            if isinstance(f, (str, os.PathLike)) and len(self.files) < _MOST_TENSORS:
                note(os.fspath(f), result)
            return result

        self._patches.replace(torch, "load", load)

    def remove(self) -> None:
        self._patches.restore()
        self.files.clear()

    def _note(self, path: str, loaded: Any) -> None:
        for count, tensor in enumerate(_tensors(loaded, 6)):
            if count >= _MOST_PER_FILE:
                return
            self.files[storage_key(tensor)] = (weakref.ref(tensor), path)


def file_of(tensor: torch.Tensor) -> str:
    """The path as the script gave it; empty for tensors that were made otherwise."""
    reference, path = LoadedFiles.files.get(storage_key(tensor), (None, ""))
    return path if reference is not None and reference() is not None else ""


def _tensors(thing: Any, depth: int) -> Iterator[torch.Tensor]:
    """Tensors of numbers in containers, and in graphs that can be written as a dictionary."""
    if isinstance(thing, torch.Tensor):
        if thing.layout == torch.strided and thing.is_floating_point():
            yield thing
        return
    if depth == 0 or isinstance(thing, torch.nn.Module):
        return
    if not isinstance(thing, (dict, list, tuple)) and callable(getattr(thing, "to_dict", None)):
        thing = thing.to_dict()
    for item in thing.values() if isinstance(thing, dict) else thing if isinstance(thing, (list, tuple)) else ():
        yield from _tensors(item, depth - 1)
