"""Folders of images and masks: every file is decoded."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from torchmedic.checkups.data.masks import marked_by, marked_otherwise, partners_missing
from torchmedic.checkups.data.options import Listing, MissingPackage, Progress, unlisted
from torchmedic.checkups.data.sources import Source
from torchmedic.facts import Cell, ImagesSeen, SharedBetween

_MASKS = re.compile(r"(?:^|[_\-])(?:masks?|segmentations?|annotations?|gt|ground_?truth)(?:$|[_\-])", re.IGNORECASE)
_TRAINED = frozenset({"train", "training"})
_HELD_OUT = frozenset({"test", "testing", "val", "valid", "validation", "dev", "eval", "holdout"})
_MOST_LISTED = 200
# Pictures of fewer pixels or colours, icons and masks, may well be equal by chance.
_LEAST_PIXELS, _LEAST_COLOURS = 256, 16


@dataclass
class _Looked:
    """What was seen of the files so far; `prints` are of pixels, whatever the file's own compression."""

    forms: dict[Path, tuple[str, str]] = field(default_factory=dict)
    broken: list[Cell] = field(default_factory=list)
    flat: list[tuple[Path, float]] = field(default_factory=list)
    prints: dict[Path, bytes] = field(default_factory=dict)
    marks: dict[Path, int] = field(default_factory=dict)


def image_facts(
    source: Source, progress: Progress, listing: Listing = unlisted
) -> Iterator[ImagesSeen | SharedBetween]:
    """What is seen of the images of a source and of its masks, told apart by the names of their folders."""
    masks = [path for path in source.files if _is_mask(path)]
    images = [path for path in source.files if path not in set(masks)]
    for files, of_masks in ((images, False), (masks, True)):
        if files:
            with progress.stage(f"{len(files)} {'masks' if of_masks else 'images'} of {source.name}"):
                looked = _look(files, of_masks)
                told = _told(source.name, files, of_masks, looked, listing)
                yield _beside_images(told, images, masks, looked) if of_masks else told
                if not of_masks:
                    yield from _shared(source.name, looked.prints)


def _beside_images(told: ImagesSeen, images: list[Path], masks: list[Path], looked: _Looked) -> ImagesSeen:
    """What masks are to each other and to their images."""
    lonely, orphans = partners_missing(images, masks)
    usual, rarer, otherwise = marked_otherwise(looked.marks)
    return replace(
        told,
        marked=(usual, rarer) if otherwise else (),
        otherwise=len(otherwise),
        otherwise_cells=tuple(Cell(file=str(path), text=f"0 and {rarer}") for path in otherwise[:_MOST_LISTED]),
        lonely=len(lonely),
        orphans=len(orphans),
        lonely_cells=tuple(Cell(file=str(path), text="no mask") for path in lonely[:_MOST_LISTED]),
        orphan_cells=tuple(Cell(file=str(path), text="no image") for path in orphans[:_MOST_LISTED]),
    )


def _is_mask(path: Path) -> bool:
    return any(_MASKS.search(part) for part in (*path.parts[-3:-1], path.stem))


def _look(files: list[Path], of_masks: bool) -> _Looked:
    try:
        from PIL import Image, ImageFile
    except ImportError:
        raise MissingPackage("pillow") from None
    assert not ImageFile.LOAD_TRUNCATED_IMAGES, "a truncated image must be noticed"
    looked = _Looked()
    for path in files:
        try:
            with Image.open(path) as image:
                image.load()
                looked.forms[path] = (image.mode, f"{image.width}x{image.height}")
                value = _single_value(image)
                if of_masks:
                    looked.marks[path] = marked_by(image)
                if _part(path) and _is_picture(image):
                    looked.prints[path] = _print_of(image)
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError, EOFError) as error:
            looked.broken.append(Cell(file=str(path), text=_reason(path, error)))
            continue
        if value is not None:
            looked.flat.append((path, value))
    return looked


def _told(name: str, files: list[Path], masks: bool, looked: _Looked, listing: Listing) -> ImagesSeen:
    forms, broken, flat = looked.forms, looked.broken, looked.flat
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


def _part(path: Path) -> str:
    """The folder that says whether a file is trained on or held out: `train`, `val_images`."""
    words = {part: set(re.split(r"[^a-z]+", part.lower())) for part in path.parts[:-1]}
    return next((part for part in reversed(words) if words[part] & (_TRAINED | _HELD_OUT)), "")


def _is_trained(part: str) -> bool:
    return bool(set(re.split(r"[^a-z]+", part.lower())) & _TRAINED)


def _is_picture(image: Any) -> bool:
    return image.width * image.height >= _LEAST_PIXELS and image.getcolors(_LEAST_COLOURS) is None


def _print_of(image: Any) -> bytes:
    digest = hashlib.blake2b(f"{image.mode}{image.size}".encode(), digest_size=16)
    digest.update(image.tobytes())
    return digest.digest()


def _shared(source: str, prints: dict[Path, bytes]) -> Iterator[SharedBetween]:
    """Pictures of a held-out folder that a training folder has too."""
    parts = {path: _part(path) for path in prints}
    trained = {prints[path]: path for path, part in parts.items() if _is_trained(part)}
    for test in sorted({part for part in parts.values() if not _is_trained(part)}):
        theirs = [path for path, part in parts.items() if part == test]
        same = [path for path in theirs if prints[path] in trained]
        if same:
            yield SharedBetween(
                source=source,
                train=parts[trained[prints[same[0]]]],
                test=test,
                how="pixels",
                columns=(),
                shared=len(same),
                of=len(theirs),
                cells=tuple(Cell(file=str(path), text=f"is {trained[prints[path]]} too") for path in same[:5]),
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
