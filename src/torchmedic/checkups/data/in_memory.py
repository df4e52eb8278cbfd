"""Tables that are in memory already: Arrow, also memory-mapped, and pandas."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from torchmedic.checkups.data.engine import DuckTable
from torchmedic.checkups.data.options import DataError, MissingPackage, Options

_numbers = itertools.count()


def arrow_tables(files: tuple[Path, ...]) -> Any:
    """Arrow files, memory-mapped: the file format and the stream format that Hugging Face's datasets are kept in."""
    pyarrow = needed_pyarrow()
    parts = []
    for path in files:
        mapped = pyarrow.memory_map(str(path))
        try:
            parts.append(pyarrow.ipc.open_file(mapped).read_all())
        except pyarrow.ArrowInvalid:
            mapped.seek(0)
            parts.append(pyarrow.ipc.open_stream(mapped).read_all())
    return pyarrow.concat_tables(parts, promote_options="permissive")


def needed_pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError:
        raise MissingPackage("pyarrow") from None
    return pyarrow


def from_arrow(connection: Any, name: str, arrow: Any, options: Options) -> DuckTable:
    """A table over Arrow memory, without a copy."""
    return DuckTable(name, connection, registered(connection, arrow), where=options.where)


def registered(connection: Any, arrow: Any) -> str:
    """The name under which the engine knows an Arrow table from now on."""
    name = f"a{next(_numbers)}"
    connection.register(name, arrow)
    return name


def from_frame(connection: Any, name: str, frame: Any, options: Options) -> DuckTable:
    """A pandas frame, with NaN and NULL kept apart; objects that are no single type are read as text."""
    pyarrow = needed_pyarrow()
    if not len(frame.columns):
        raise DataError("a frame without columns: there is nothing to check")
    columns, names = [], []
    for position, label in enumerate(frame.columns):
        series = frame.iloc[:, position]
        try:
            column = pyarrow.array(series, from_pandas=False)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, pyarrow.ArrowNotImplementedError, TypeError):
            column = pyarrow.array([None if _is_missing(value) else str(value) for value in series], pyarrow.string())
        if pyarrow.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        columns.append(column)
        names.append(str(label))
    return from_arrow(connection, name, pyarrow.table(columns, names=unique_names(names)), options)


def _is_missing(value: Any) -> bool:
    return value is None or bool(value != value)


def unique_names(names: list[str]) -> list[str]:
    """SQL knows no two columns of one name, in any case of letters."""
    seen: set[str] = set()
    unique = []
    for name in names:
        while name.lower() in seen:
            name += "_"
        seen.add(name.lower())
        unique.append(name)
    return unique
