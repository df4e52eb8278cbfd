"""Non-finite values in arrays, tables, series and tensors, with the labels a person would use."""

from __future__ import annotations

import sys
from typing import Any

from torchmedic.late import late_dataclass
from torchmedic.probes.objects.contents import pairs_in
from torchmedic.probes.source.frames import file_of, is_user_file

_MOST_LABELS = 8
_LARGEST = 50_000_000


@late_dataclass(frozen=True)
class Spoiled:
    """How much of a value is not finite, and where."""

    holder: str
    bad: int
    nan: int
    total: int
    columns: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()


def spoiled(value: Any, depth: int = 1) -> Spoiled | None:
    """What is non-finite in a value; None when all is well or it is nothing we know."""
    try:
        if type(value) is complex:  # a negative number to a fractional power: no more a learning rate than NaN is
            return Spoiled(holder="complex", bad=1, nan=0, total=1) if value.imag else None
        if isinstance(value, float):
            return Spoiled(holder="number", bad=1, nan=int(value != value), total=1) if value - value != 0 else None
        kind = type(value).__module__.partition(".")[0]
        if kind == "numpy":
            return _array("array", value)
        if kind == "pandas":
            return _pandas(value)
        if kind == "torch" and hasattr(value, "is_floating_point"):
            return _tensor(value)
        if kind == "polars" and hasattr(value, "to_pandas"):
            return _pandas(value.to_pandas())
        if depth and isinstance(value, (list, tuple, dict)):
            items = [item for _, item in pairs_in(value)] if isinstance(value, dict) else list(value)
            return next((found for item in items[:64] if (found := spoiled(item, depth - 1)) is not None), None)
        # A number that is infinite at first is common there: the best loss so far.
        parts = (spoiled(item, depth - 1) for item in (_held_by(value)[:64] if depth else ()))
        return next((found for found in parts if found is not None and found.holder != "number"), None)
    except Exception:  # noqa: BLE001 - any strange table is none of our business
        return None
    return None


def _held_by(value: Any) -> list[Any]:
    """What an object of the script, a data set of tensors or a loader holds; the parts of a network are no data."""
    if hasattr(value, "_modules"):
        return []
    if type(value).__module__.startswith("torch.utils.data"):
        return [held for name in ("tensors", "dataset") if (held := getattr(value, name, None)) is not None]
    return list(vars(value).values()) if is_user_file(file_of(type(value))) and hasattr(value, "__dict__") else []


def holds_numbers(value: Any) -> bool:
    """Whether a value is an array, a table or a tensor, or a tuple of such: something that could be spoiled."""
    if isinstance(value, (list, tuple)):
        return any(holds_numbers(item) for item in value[:8])
    library = type(value).__module__.partition(".")[0]
    return library in ("numpy", "pandas", "torch", "polars") and hasattr(value, "shape")


def zero_labels(value: Any) -> tuple[str, ...]:
    """Where a vector or table of divisors is 0, by label."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return ()
    try:
        array = numpy.asarray(value.to_numpy() if hasattr(value, "to_numpy") else value)
    except Exception:  # noqa: BLE001
        return ()
    if array.ndim != 1 or array.dtype.kind not in "fiu" or array.size > _LARGEST:
        return ()
    zero = numpy.flatnonzero(array == 0)
    if not len(zero) or len(zero) == array.size:
        return ()
    index = getattr(value, "index", None)
    labelled = index is not None and hasattr(index, "__getitem__")
    return tuple(str(index[i]) if labelled else str(i) for i in zero[:_MOST_LABELS])  # type: ignore[index]


def _array(holder: str, array: Any, columns: Any = None, index: Any = None) -> Spoiled | None:
    numpy = sys.modules["numpy"]
    if not isinstance(array, numpy.ndarray) or array.ndim == 0:
        number = float(array) if array.dtype.kind == "f" else 0.0
        return Spoiled(holder="number", bad=1, nan=int(number != number), total=1) if number - number != 0 else None
    if array.dtype.kind != "f" or not array.size or array.size > _LARGEST:
        return None
    bad = ~numpy.isfinite(array)
    if not bad.any():
        return None
    # A table often has cells that are missing and known to be; an infinity is always news.
    where = numpy.concatenate([numpy.argwhere(numpy.isinf(array)), numpy.argwhere(numpy.isnan(array))])
    last = dict.fromkeys(int(i) for i in where[:, -1]) if array.ndim > 1 else {}
    rows = dict.fromkeys(int(i) for i in where[:, 0])
    return Spoiled(
        holder=holder,
        bad=int(bad.sum()),
        nan=int(numpy.isnan(array).sum()),
        total=int(array.size),
        columns=tuple(str(columns[i]) if columns is not None else str(i) for i in list(last)[:_MOST_LABELS]),
        rows=tuple(str(index[i]) if index is not None else str(i) for i in list(rows)[:_MOST_LABELS]),
    )


def _pandas(value: Any) -> Spoiled | None:
    numpy = sys.modules["numpy"]
    if hasattr(value, "columns"):
        numbers = value.select_dtypes("number")
        if not numbers.size:
            return None
        array = numbers.to_numpy(dtype=float, na_value=numpy.nan)
        return _array("table", array, columns=numbers.columns, index=numbers.index)
    if hasattr(value, "dtype") and getattr(value.dtype, "kind", "O") in "fiu":
        array = value.to_numpy(dtype=float, na_value=numpy.nan)
        found = _array("series", array, index=getattr(value, "index", None))
        if found is not None and getattr(value, "name", None) is not None:
            return Spoiled(found.holder, found.bad, found.nan, found.total, (str(value.name),), found.rows)
        return found
    return None


def _tensor(value: Any) -> Spoiled | None:
    torch = sys.modules["torch"]
    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return None
    if value.is_meta or value.numel() == 0 or value.numel() > _LARGEST or value.layout != torch.strided:
        return None
    if bool(torch.isfinite(value.detach()).all()):
        return None
    return _array("tensor", value.detach().to("cpu", torch.float64).numpy())
