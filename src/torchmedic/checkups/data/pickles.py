"""Saved torch objects, without ever unpickling freely: what asks for foreign classes is refused by their names."""

from __future__ import annotations

import contextlib
import importlib
import pickle
import pickletools
import re
import warnings
import zipfile
from pathlib import Path
from typing import Any

from torchmedic.checkups.data.opening import Unreadable

# Classes of PyTorch Geometric that hold tensors and nothing else.
_GEOMETRIC = {
    "torch_geometric.data.data": ("Data", "DataEdgeAttr", "DataTensorAttr"),
    "torch_geometric.data.hetero_data": ("HeteroData",),
    "torch_geometric.data.storage": ("BaseStorage", "NodeStorage", "EdgeStorage", "GlobalStorage"),
    "torch_geometric.data.temporal": ("TemporalData",),
    "torch_geometric.data.batch": ("Batch",),
    "torch_geometric.data.feature_store": ("TensorAttr",),
    "torch_geometric.data.graph_store": ("EdgeAttr", "EdgeLayout"),
    "torch_geometric.edge_index": ("EdgeIndex", "SortOrder", "CatMetadata"),
}
_ARCHIVE = b"PK\x03\x04"
_NAMED = re.compile(r"GLOBAL ([\w.]+)|class(?:es)? ([\w.]+)|(?:found|:) ([\w.]+\.[\w.]+)")


def load_torch(path: Path, trust: bool = False) -> Any:
    """What a `.pt` file holds: tensors, containers, graphs; anything else only with `trust`."""
    import torch

    _refuse_packed(path)
    if trust:
        return torch.load(path, map_location="cpu", weights_only=False)
    foreign, known = _asked_for(path)
    if foreign:
        raise Unreadable("foreign-classes", ", ".join(foreign[:6]))
    try:
        with torch.serialization.safe_globals(known), warnings.catch_warnings():
            # About the protocol of a pickle, which is told where it matters.
            warnings.simplefilter("ignore")
            return torch.load(path, map_location="cpu", weights_only=True, mmap=_is_zip(path))
    except pickle.UnpicklingError as error:
        found = _NAMED.search(str(error))
        name = next((part for part in found.groups() if part), "") if found else ""
        named = [name] if name else _named_in(path)
        if named:
            raise Unreadable("foreign-classes", ", ".join(named[:6])) from None
        # What torch says here is about an option of `torch.load`, not about the file.
        raise Unreadable("unreadable", "neither an archive of torch nor a pickle of tensors") from None
    except (RuntimeError, EOFError) as error:
        raise Unreadable("truncated", re.sub(r"\s+", " ", str(error))[:160]) from None


def _named_in(path: Path) -> list[str]:
    """What a bare pickle would call, read without running it: names in its text that are none of torch's."""
    found: list[str] = []
    words: list[str] = []
    with path.open("rb") as file, contextlib.suppress(Exception):  # nothing but a pickle reads as one to its end
        for operation, word, _ in pickletools.genops(file):
            if operation.name in ("GLOBAL", "INST"):
                found.append(str(word).replace(" ", "."))
            elif operation.name == "STACK_GLOBAL" and len(words) > 1:
                found.append(".".join(words[-2:]))
            elif isinstance(word, str):
                words.append(word)
    return [name for name in dict.fromkeys(found) if not name.startswith(("torch.", "collections."))]


def _is_zip(path: Path) -> bool:
    return zipfile.is_zipfile(path)


def _asked_for(path: Path) -> tuple[list[str], list[Any]]:
    """The foreign classes a file asks for, read without running anything, and those of them that hold tensors only."""
    names = _unsafe(path)
    if any(name.startswith("torch_geometric.") for name in names):
        # The package declares classes of its own safe when it is imported: the first graph is then read like the next.
        with contextlib.suppress(ImportError):
            importlib.import_module("torch_geometric.data")
            names = _unsafe(path)
    foreign, known = [], []
    for name in names:
        module, _, cls = name.rpartition(".")
        if cls in _GEOMETRIC.get(module, ()):
            with contextlib.suppress(ImportError, AttributeError):
                known.append(getattr(importlib.import_module(module), cls))
                continue
        foreign.append(name)
    return foreign, known


def _unsafe(path: Path) -> list[str]:
    import torch

    with contextlib.suppress(Exception):  # an old or damaged file: loading it says what is wrong
        return list(torch.serialization.get_unsafe_globals_in_checkpoint(path))
    return []


def _refuse_packed(path: Path) -> None:
    """torch stores tensors unpacked; a packed part that grows a hundredfold was made to fill a disk or a memory."""
    if not _is_zip(path):
        with path.open("rb") as file:
            if file.read(len(_ARCHIVE)) == _ARCHIVE:
                raise Unreadable("truncated", "an archive of torch without its end")
        return
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            if entry.file_size > 100 * max(1, entry.compress_size) and entry.file_size > 64 << 20:
                raise Unreadable("too-large", f"`{entry.filename}` grows to {entry.file_size >> 20} MiB when unpacked")
