"""Masks beside images: which belongs to which by their names, and how the masks number what they mark."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

# Words that say what a file is, not which one; what is left of two names is equal where they belong together.
_KINDS = re.compile(
    r"(?:^|(?<=[_\-.]))(?:images?|imgs?|masks?|seg|segm|segmentations?|annotations?|gt|ground_?truth|labels?)(?=$|[_\-.])",
    re.IGNORECASE,
)
_PARTED = re.compile(r"(?<=_|-)(?:test|train|val)[a-z]*|^(?:test|train|val)[a-z]*(?=_|-|$)", re.IGNORECASE)
_MOSTLY = 0.8
_FEWEST = 10


def partners_missing(images: Iterable[Path], masks: Iterable[Path]) -> tuple[list[Path], list[Path]]:
    """Images without a mask and masks without an image, where nearly all others pair by their names."""
    theirs, ours = ({(_part(path), _bare(path.stem)): path for path in files} for files in (images, masks))
    paired = theirs.keys() & ours.keys()
    if len(paired) < max(_FEWEST, _MOSTLY * len(theirs), _MOSTLY * len(ours)):
        return [], []
    return [theirs[key] for key in theirs if key not in paired], [ours[key] for key in ours if key not in paired]


def _bare(stem: str) -> str:
    return re.sub(r"[_\-.]+", "_", _KINDS.sub("", stem)).strip("_")


def _part(path: Path) -> str:
    """The folder of a split: numbers of images often begin anew in each."""
    words = [found[0] for name in path.parts[:-1] if (found := _PARTED.search(name))]
    return words[-1].lower() if words else ""


def marked_by(image: Any) -> int:
    """The number that a mask gives to the one thing it marks; 0 where it marks none, -1 where it is another mask."""
    colours = image.getcolors(2) if image.mode == "L" else None
    values = [value for _, value in colours or ()]
    return -1 if not values or (len(values) == 2 and min(values)) else int(max(values))


def marked_otherwise(marks: dict[Path, int]) -> tuple[int, int, list[Path]]:
    """The usual number and the rarer one of masks that mark one thing by 1 or by 255, and the masks with the rarer."""
    if {*marks.values()} - {0} != {1, 255}:
        return 0, 0, []
    ones, full = ([path for path, mark in marks.items() if mark == number] for number in (1, 255))
    return (255, 1, ones) if len(full) >= len(ones) else (1, 255, full)
