"""Draws of one sample held against each other: an image that was mirrored beside a target that stayed as it was."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

Array = np.ndarray[Any, Any]
_LEAST_SIDE = 8
_MOST_VALUES = 2_000_000
_ALIKE = 0.995
_UNLIKE = 0.95
_PLACE = ("box", "bbox", "pt", "point", "landmark", "keypoint", "kp", "kpt", "joint", "coord", "coordinate", "corner")
_PLACES = frozenset((*_PLACE, "boxes", "bboxes", *(f"{word}s" for word in _PLACE)))


def left_behind(draws: list[Any], words: set[str]) -> tuple[int, str, str] | None:
    """The axis along which one of two draws is the mirror of the other, the image, and the target that is the same.

    `words` are those of the code that makes the samples: a row of numbers is taken for places only where it says so.
    """
    parts = [dict(_fields(draw)) for draw in draws]
    image = next((name for name, value in parts[0].items() if _is_image(value)), None)
    if image is None or any(image not in part for part in parts):
        return None
    first = parts[0][image]
    for part in parts[1:]:
        axis = _mirrored(first, part[image])
        if axis is None:
            continue
        for name, value in parts[0].items():
            other = part.get(name)
            is_same = other is not None and value.shape == other.shape and bool(np.array_equal(value, other))
            if name != image and is_same and _is_spatial(name, value, first, axis, words):
                return axis, image, name
    return None


def _fields(sample: Any, name: str = "", depth: int = 0) -> Iterator[tuple[str, Array]]:
    if isinstance(sample, dict):
        parts: list[tuple[Any, Any]] = list(sample.items())
    elif isinstance(sample, (tuple, list)) and len(sample) <= 16 and depth < 2:
        parts = list(enumerate(sample))
    else:
        values = sample.detach().cpu().numpy() if isinstance(sample, torch.Tensor) else sample
        if isinstance(values, np.ndarray) and values.dtype.kind in "biuf" and 0 < values.size <= _MOST_VALUES:
            yield name, values
        return
    for key, value in parts:
        yield from _fields(value, f"{name}.{key}".strip("."), depth + 1)


def _is_image(values: Array) -> bool:
    return values.ndim in (2, 3) and min(_sides(values)) >= _LEAST_SIDE and float(values.std()) > 0


def _sides(values: Array) -> tuple[int, int]:
    """Height and width, of images with channels first, or last, or without."""
    if values.ndim == 3 and values.shape[-1] <= 4 < values.shape[0]:
        return values.shape[0], values.shape[1]
    return values.shape[-2], values.shape[-1]


def _turned(values: Array, axis: int) -> Array:
    is_last = values.ndim == 3 and values.shape[-1] <= 4 < values.shape[0]
    return np.flip(values, axis - 1 if is_last else axis)


def _alike(first: Array, second: Array) -> float:
    """How well one is the other, but for brightness and contrast."""
    if first.shape != second.shape or not first.std() or not second.std():
        return 0.0
    return float(np.corrcoef(first.ravel().astype(float), second.ravel().astype(float))[0, 1])


def _mirrored(first: Array, second: Array) -> int | None:
    if _alike(first, second) > _UNLIKE:
        return None
    return next((axis for axis in (-1, -2) if _alike(_turned(first, axis), second) >= _ALIKE), None)


def _is_spatial(name: str, values: Array, image: Array, axis: int, words: set[str]) -> bool:
    """A mask or a second image of the same size, with two unlike sides; or places within the image."""
    if values.ndim in (2, 3) and _sides(values) == _sides(image):
        return _alike(values, _turned(values, axis)) <= _UNLIKE and float(values.std()) > 0
    is_row = values.dtype.kind == "f" and values.ndim in (1, 2) and values.size >= 4 and values.size % 2 == 0
    is_table = values.ndim == 1 or values.shape[-1] in (2, 4)
    is_within = bool((np.abs(values) <= max(_sides(image))).all()) and float(values.std()) > 0
    return is_row and is_table and is_within and bool(_PLACES & (words | set(name.lower().split("."))))
