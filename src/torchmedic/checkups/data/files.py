"""Files that are no tables: arrays, weights, saved tensors and graphs, images."""

from __future__ import annotations

import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from torchmedic.checkups.data.arrays import array_facts, as_numpy
from torchmedic.checkups.data.images import image_facts
from torchmedic.checkups.data.limits import memory
from torchmedic.checkups.data.opening import Unreadable
from torchmedic.checkups.data.options import Listing, Options, Progress, unlisted
from torchmedic.checkups.data.pickles import load_torch
from torchmedic.checkups.data.sources import Source
from torchmedic.checkups.data.structures import structure_facts
from torchmedic.facts import DataSource, Observation

_NUMPY = b"\x93NUMPY"
_SWOLLEN, _PACKED_AWAY = 1 << 30, 200


def other_facts(
    source: Source, options: Options, progress: Progress, listing: Listing = unlisted
) -> Iterator[Observation]:
    """What is seen of a source that is no table."""
    started = time.monotonic()
    if source.format == "image":
        yield from image_facts(source, progress, listing)
    else:
        for path in source.files:
            if path.stat().st_size == 0:
                raise Unreadable("empty", "0 bytes")
            with progress.stage(f"arrays of {path}"):
                yield from _file_facts(path, source.format, options, listing)
    size = sum(path.stat().st_size for path in source.files if path.exists())
    yield DataSource(
        source=source.name,
        format=source.format,
        files=tuple(str(path) for path in source.files[:1000]),
        file_count=len(source.files),
        bytes=size,
        asked=next((options.read_at[str(path)] for path in source.files if str(path) in options.read_at), None),
        seconds=time.monotonic() - started,
    )


def _file_facts(path: Path, kind: str, options: Options, listing: Listing) -> Iterator[Observation]:
    if kind == "npy":
        yield from array_facts(str(path), path.stem, _mapped(path), listing=listing)
    elif kind == "npz":
        yield from _npz(path, listing)
    elif kind == "safetensors":
        yield from _safetensors(path, listing)
    elif kind == "torch":
        yield from structure_facts(str(path), load_torch(path, trust=options.trust), listing)
    elif kind == "pickle":
        raise Unreadable("foreign-classes", "a pickle runs code when it is opened; it was not opened")
    elif path.suffix.lower() in (".xlsx", ".xls", ".ods"):
        raise Unreadable("workbook", "a workbook may hold several sheets, formulas and cells that are joined")
    else:
        raise Unreadable("unreadable", "neither a table nor an array, image or graph by its name and first bytes")


def _mapped(path: Path) -> np.ndarray:
    with path.open("rb") as file:
        if file.read(len(_NUMPY)) != _NUMPY:
            raise Unreadable("unreadable", "its first bytes are not those of a NumPy file")
    try:
        array: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        raise _object_array(error) from None
    return array


def _object_array(error: ValueError) -> Unreadable:
    if "pickle" in str(error).lower() or "object" in str(error).lower():
        return Unreadable(
            "foreign-classes", "an array of Python objects, which only a pickle can hold; it was not opened"
        )
    return Unreadable("truncated", str(error)[:160])


def _npz(path: Path, listing: Listing) -> Iterator[Observation]:
    refuse_bomb(path)
    with np.load(path, allow_pickle=False) as archive:
        for name in archive.files:
            try:
                array = archive[name]
            except ValueError as error:
                raise _object_array(error) from None
            yield from array_facts(str(path), name, array, listing=listing)


def refuse_bomb(path: Path) -> None:
    """An archive says how large its parts become: what would not fit into memory is not unpacked."""
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = [(entry.file_size, entry.compress_size) for entry in archive.infolist()]
    except zipfile.BadZipFile as error:
        raise Unreadable("truncated", str(error)) from None
    largest = max((size for size, packed in sizes if size > memory() or _is_swollen(size, packed)), default=0)
    if largest:
        raise Unreadable(
            "too-large", f"a part of {largest >> 20} MiB when unpacked, {path.stat().st_size >> 10} KiB packed"
        )


def _is_swollen(size: int, packed: int) -> bool:
    """What is a gigabyte and more, and nearly nothing when packed, was made to fill a memory."""
    return size > _SWOLLEN and size > _PACKED_AWAY * packed


def _safetensors(path: Path, listing: Listing) -> Iterator[Observation]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(path), framework="pt") as weights:
            for name in weights.keys():  # noqa: SIM118 - not a mapping
                yield from array_facts(str(path), name, as_numpy(weights.get_tensor(name)), "weight", listing)
    except SafetensorError as error:
        raise Unreadable("truncated", str(error)[:160]) from None
