"""Draws of one sample held against each other: an image that was mirrored beside a target that stayed as it was."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from torchmedic.late import late_dataclass

Array = np.ndarray[Any, Any]
_LEAST_SIDE = 8
_MOST_VALUES = 2_000_000
_MOST_PAIRED = 100_000
_AXES = (-1, -2, 0)
_ALIKE = 0.995
_VIEW = 0.9
_UNLIKE = 0.95
_NOISY = 0.9  # alike but for noise, which leaves the way in which an image lies the likeliest by far
_BY_FAR = 0.2
_PLACE = ("box", "bbox", "pt", "point", "landmark", "keypoint", "kp", "kpt", "joint", "coord", "coordinate", "corner")
_PLACES = frozenset((*_PLACE, "boxes", "bboxes", *(f"{word}s" for word in _PLACE)))


@late_dataclass(frozen=True)
class LeftBehind:
    """An image that is turned from draw to draw while a target is the same; `is_apart`: and the other way round."""

    axis: int
    image: str
    target: str
    is_apart: bool


def left_behind(draws: list[Any], words: set[str]) -> LeftBehind | None:
    """The first pair of draws in which the image is turned and a target is not.

    `words` are those of the code that makes the samples: a row of numbers is taken for places only where it says so.
    """
    parts = [dict(_fields(draw)) for draw in draws]
    image = next((name for name, value in parts[0].items() if _is_image(value)), None)
    if image is None or any(part.keys() != parts[0].keys() for part in parts):
        return None
    others = [name for name in parts[0] if name != image and not _is_view(parts[0][image], parts[0][name])]
    for one, two in _pairs(parts, image):
        axis = _mirrored(one[image], two[image])
        for name in others if axis is not None else ():
            assert axis is not None
            if _is_same(one[name], two[name]) and _is_spatial(name, one[name], one[image], axis, words):
                return LeftBehind(axis, image, name, _is_turned_alone(parts, name, image))
    return None


def _pairs(parts: list[dict[str, Array]], image: str) -> Iterator[tuple[dict[str, Array], dict[str, Array]]]:
    """All pairs of draws; of large images the first with each other."""
    firsts = parts if parts[0][image].size <= _MOST_PAIRED else parts[:1]
    return ((one, two) for i, one in enumerate(firsts) for two in parts[i + 1 :])


def _is_turned_alone(parts: list[dict[str, Array]], target: str, image: str) -> bool:
    """Whether there are draws with the same image, but for brightness and noise, and a target that was turned."""
    if not _is_image(parts[0][target]):
        return False
    pairs = _pairs(parts, image)
    return any(
        _lies_as(one[image], two[image]) and _mirrored(one[target], two[target]) is not None for one, two in pairs
    )


def _is_same(one: Array, two: Array) -> bool:
    return one.shape == two.shape and bool(np.array_equal(one, two))


def _is_view(image: Array, other: Array) -> bool:
    """Whether a field is the image once more, turned or not: two views of a picture may be drawn apart."""
    if other.shape != image.shape:
        return False
    turned = [image]
    for _ in range(3):
        turned.append(_turned(turned[-1], 0))
    return any(_alike(one, other) >= _VIEW for whole in turned for one in (whole, _turned(whole, -1)))


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
    """Mirrored along the last dimension or the one before it; by a quarter for axis 0."""
    is_last = values.ndim == 3 and values.shape[-1] <= 4 < values.shape[0]
    if axis == 0:
        return np.rot90(values, axes=(0, 1) if is_last else (-2, -1))
    return np.flip(values, axis - 1 if is_last else axis)


def _alike(first: Array, second: Array) -> float:
    """How well one is the other, but for brightness and contrast."""
    if first.shape != second.shape or not first.std() or not second.std():
        return 0.0
    return float(np.corrcoef(first.ravel().astype(float), second.ravel().astype(float))[0, 1])


def _mirrored(first: Array, second: Array) -> int | None:
    """By which turn one image becomes another, that it does not resemble as it is."""
    as_it_is = _alike(first, second)
    if as_it_is > _UNLIKE:
        return None
    turned = {axis: _alike(_turned(first, axis), second) for axis in _AXES}
    return next((axis for axis in _AXES if _is_told(turned[axis], as_it_is)), None)


def _lies_as(first: Array, second: Array) -> bool:
    """Whether an image lies as another one does: not turned, whatever noise was added."""
    return _is_told(_alike(first, second), max(_alike(_turned(first, axis), second) for axis in _AXES))


def _is_told(likeness: float, otherwise: float) -> bool:
    return likeness >= _ALIKE or likeness >= max(_NOISY, otherwise + _BY_FAR)


def _is_spatial(name: str, values: Array, image: Array, axis: int, words: set[str]) -> bool:
    """A mask or a second image of the same size, with two unlike sides; or places within the image."""
    if values.ndim in (2, 3) and _sides(values) == _sides(image):
        return _alike(values, _turned(values, axis)) <= _UNLIKE and float(values.std()) > 0
    is_row = values.dtype.kind == "f" and values.ndim in (1, 2) and values.size >= 4 and values.size % 2 == 0
    is_table = values.ndim == 1 or values.shape[-1] in (2, 4)
    is_within = bool((np.abs(values) <= max(_sides(image))).all()) and float(values.std()) > 0
    return is_row and is_table and is_within and bool(_PLACES & (words | set(name.lower().split("."))))
