"""Folders of images and masks: every file is decoded."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from torchmedic.checkups.data.options import Listing, MissingPackage, Progress, unlisted
from torchmedic.checkups.data.sources import Source
from torchmedic.facts import Cell, ImagesSeen

_MASKS = re.compile(r"(?:^|[_\-])(?:masks?|segmentations?|annotations?|gt|ground_?truth)(?:$|[_\-])", re.IGNORECASE)
_MOST_LISTED = 200


def image_facts(source: Source, progress: Progress, listing: Listing = unlisted) -> Iterator[ImagesSeen]:
    """One fact for the images of a source and one for its masks, told apart by the names of their folders."""
    masks = [path for path in source.files if _is_mask(path)]
    images = [path for path in source.files if path not in set(masks)]
    for files, of_masks in ((images, False), (masks, True)):
        if files:
            with progress.stage(f"{len(files)} {'masks' if of_masks else 'images'} of {source.name}"):
                yield _look(source.name, files, of_masks, listing)


def _is_mask(path: Path) -> bool:
    return any(_MASKS.search(part) for part in (*path.parts[-3:-1], path.stem))


def _look(name: str, files: list[Path], masks: bool, listing: Listing) -> ImagesSeen:
    try:
        from PIL import Image, ImageFile
    except ImportError:
        raise MissingPackage("pillow") from None
    assert not ImageFile.LOAD_TRUNCATED_IMAGES, "a truncated image must be noticed"
    forms: dict[Path, tuple[str, str]] = {}
    broken: list[Cell] = []
    flat: list[tuple[Path, float]] = []
    for path in files:
        try:
            with Image.open(path) as image:
                image.load()
                forms[path] = (image.mode, f"{image.width}x{image.height}")
                value = _single_value(image)
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError, EOFError) as error:
            broken.append(Cell(file=str(path), text=_reason(path, error)))
            continue
        if value is not None:
            flat.append((path, value))
    odd = _odd(forms)
    _list(listing, broken, flat, odd)
    modes = Counter(mode for mode, _ in forms.values())
    sizes = Counter(size for _, size in forms.values())
    return ImagesSeen(
        source=name,
        files=len(files),
        masks=masks,
        modes=tuple(modes.most_common(8)),
        sizes=tuple(sizes.most_common(8)),
        broken=len(broken),
        broken_cells=tuple(broken[:_MOST_LISTED]),
        flat=len(flat),
        black=sum(value == 0 for _, value in flat),
        flat_cells=tuple(Cell(file=str(path), text=f"every pixel is {value:g}") for path, value in flat[:_MOST_LISTED]),
        odd_cells=tuple(odd[:_MOST_LISTED]),
    )


def _reason(path: Path, error: BaseException) -> str:
    if path.stat().st_size == 0:
        return "0 bytes"
    return str(error).replace(str(path), "the file").replace(repr(str(path)), "the file")[:100]


def _single_value(image: Any) -> float | None:
    """The one value of an image whose pixels are all alike."""
    ends = image.getextrema()
    bands = ends if isinstance(ends[0], tuple) else (ends,)
    return float(bands[0][0]) if all(low == high for low, high in bands) and image.width * image.height > 1 else None


def _odd(forms: dict[Path, tuple[str, str]]) -> list[Cell]:
    """Files whose mode or size is not the common one."""
    if not forms:
        return []
    mode, size = (Counter(form[i] for form in forms.values()).most_common(1)[0][0] for i in (0, 1))
    odd = [path for path, form in forms.items() if form[0] != mode] or [
        path for path, form in forms.items() if form[1] != size
    ]
    return [Cell(file=str(path), text=" ".join(forms[path])) for path in odd]


def _list(listing: Listing, broken: list[Cell], flat: list[tuple[Path, float]], odd: list[Cell]) -> None:
    for cell in broken:
        listing(cell.file, None, "", "broken", cell.text)
    for path, value in flat:
        listing(str(path), None, "", "single-value", f"{value:g}")
    for cell in odd:
        listing(cell.file, None, "", "other-form", cell.text)
