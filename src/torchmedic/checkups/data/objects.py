"""Data in the hands of a script: frames, arrays, tensors, graphs, data sets and loaders, or a dict of their parts."""

from __future__ import annotations

import contextlib
import random
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from torchmedic.checkups.data.check import Checkup, check_tables, compare_tables
from torchmedic.checkups.data.engine import connected
from torchmedic.checkups.data.graphs import is_graph
from torchmedic.checkups.data.in_memory import from_arrow, from_frame
from torchmedic.checkups.data.opening import Opened
from torchmedic.checkups.data.options import DataError, Options, Progress
from torchmedic.checkups.data.samples import compare_samples, sample_facts, samples_of
from torchmedic.checkups.data.sources import Source
from torchmedic.checkups.data.structures import structure_facts
from torchmedic.facts import DataSource

_PARTS = ("train", "test", "val", "valid", "validation", "dev", "holdout")


def check_object(data: Any, options: Options, samples: int | None) -> Checkup:
    """Check one object, or the parts of a dict like `{"train": …, "test": …}` and what they share."""
    checkup = Checkup(options, Progress())
    parts = data if _has_parts(data) else {"data": data}
    with connected(options.memory_limit) as connection, _same_chance():
        tables = {
            name: opened for name, part in parts.items() if (opened := _table(connection, str(name), part, options))
        }
        for name, opened in tables.items():
            source = Source(str(name), _kind(parts[name]), ())
            check_tables(checkup, lambda _, opened=opened: iter([opened]), source)  # type: ignore[misc]
        compare_tables(checkup)
        rest = {str(name): part for name, part in parts.items() if name not in tables}
        _check_rest(checkup, rest, samples)
    return checkup


def _kind(table: Any) -> str:
    """The class of a table, with its library where that is not pandas: most call theirs `DataFrame`."""
    library, name = type(table).__module__.partition(".")[0], type(table).__name__
    return name if library == "pandas" else f"{library}.{name}"


def _has_parts(data: Any) -> bool:
    return isinstance(data, Mapping) and bool(data) and all(str(key).lower().startswith(_PARTS) for key in data)


def _table(connection: Any, name: str, part: Any, options: Options) -> Opened | None:
    """A table over an object that is one: pandas, polars, Arrow, Hugging Face's datasets."""
    kind = type(part).__module__.partition(".")[0]
    if kind == "pandas" and hasattr(part, "columns"):
        return Opened(from_frame(connection, name, part, options))
    if kind == "pandas" and hasattr(part, "to_frame"):
        return Opened(from_frame(connection, name, part.to_frame(), options))
    if kind == "pyarrow" and hasattr(part, "schema"):
        return Opened(from_arrow(connection, name, part, options))
    if kind == "polars" and hasattr(part, "collect"):
        part = part.collect()
    if kind == "polars" and hasattr(part, "to_arrow"):
        return Opened(from_arrow(connection, name, part.to_arrow(), options))
    if kind == "datasets" and hasattr(part, "with_format"):
        return Opened(from_arrow(connection, name, part.with_format("arrow")[:], options))
    return None


def _check_rest(checkup: Checkup, parts: dict[str, Any], samples: int | None) -> None:
    fetched: dict[str, Any] = {}
    for name, part in parts.items():
        if _is_dataset(part):
            fetched[name] = samples_of(part, samples)
            checkup.note(sample_facts(name, fetched[name]))
        else:
            checkup.note(structure_facts(name, _plain(part)))
        checkup.seen.append(DataSource(source=name, format=type(part).__name__))
    checkup.note(compare_samples(fetched))


def _plain(part: Any) -> Any:
    """Lists of numbers as an array, a module as its state; everything else as it is."""
    if is_graph(part):
        return part
    if hasattr(part, "state_dict") and hasattr(part, "forward"):
        return part.state_dict()
    if isinstance(part, list | tuple) and part and all(isinstance(one, int | float | list | tuple) for one in part):
        with contextlib.suppress(ValueError, TypeError):
            array = np.asarray(part)
            if array.dtype.kind in "fiub":
                return array
    if isinstance(part, np.ndarray | Mapping | list | tuple) or hasattr(part, "detach"):
        return part
    raise DataError(
        f"a `{type(part).__name__}` is nothing that can be checked: give a path, a frame, an array, a Dataset"
    )


def _is_dataset(part: Any) -> bool:
    """A torch Dataset or DataLoader, or anything that is used like one."""
    if isinstance(part, list | tuple | dict | np.ndarray) or hasattr(part, "detach") or is_graph(part):
        return False
    return (hasattr(part, "__getitem__") and hasattr(part, "__len__")) or hasattr(part, "__iter__")


@contextlib.contextmanager
def _same_chance() -> Iterator[None]:
    """Leave every generator of chance as it was: looking at data must not change what is trained."""
    torch = sys.modules.get("torch")
    python, numpy_state = random.getstate(), np.random.get_state()
    torch_state = torch.get_rng_state() if torch is not None else None
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy_state)
        if torch is not None and torch_state is not None:
            torch.set_rng_state(torch_state)
