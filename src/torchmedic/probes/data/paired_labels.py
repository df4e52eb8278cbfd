"""Whether a data set pairs files with labels from a table by their place, and the table is in another order."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any

from torchmedic.facts import LabelsPairedApart
from torchmedic.probes.source.sources import hung_at

_LEAST_ROWS, _MOST_ROWS = 8, 20_000
_MOST_TABLES = 12
_MOST_BYTES = 8 << 20
_TABLES = {".csv": ",", ".tsv": "\t"}
_SHARED = 0.9  # of the names: the table may lack some
_MOST_WRONG = 0.05  # of the labels by name, which a table that is paired well may have as well

Names = dict[str, list[PurePath]]


def labels_apart(dataset: Any, files: Names, read: list[str]) -> LabelsPairedApart | None:
    """Labels in the order of a table beside the files, which the files are not in; `read` are read at one index."""
    own = getattr(dataset, "__dict__", {})
    labels = {name: held for name in read if name not in files and (held := _labels(own.get(name)))}
    for name in [name for name in read if name in files] if labels else ():
        for path in _tables_near(dataset, files[name]):
            table = _columns(path)
            found = _apart_in(table, files[name], labels)
            if found is not None:
                return LabelsPairedApart(
                    dataset=type(dataset).__name__,
                    files=name,
                    table=path.name,
                    where=hung_at(type(dataset), name),
                    **found,
                )
    return None


def _labels(held: Any) -> list[Any]:
    """A list, an array or a tensor with one label for each row, as plain values."""
    if hasattr(held, "tolist") and getattr(held, "ndim", 0) == 1:
        held = held.tolist()
    is_list = isinstance(held, (list, tuple)) and _LEAST_ROWS <= len(held) <= _MOST_ROWS
    return list(held) if is_list and all(isinstance(one, (int, float, str)) for one in held) else []


def _tables_near(dataset: Any, files: Sequence[PurePath]) -> list[Path]:
    """Tables in the folders of the files and of the data set, and one above."""
    told = [Path(held) for held in vars(dataset).values() if isinstance(held, (str, Path)) and str(held)]
    folders = [Path(files[0]).parent, *(path if path.is_dir() else path.parent for path in told[:10])]
    around = dict.fromkeys(folder for below in folders for folder in (below, below.parent))
    found = [path for folder in around if folder.is_dir() for path in sorted(folder.glob("*.[ct]sv"))[:_MOST_TABLES]]
    return [path for path in dict.fromkeys(found) if path.stat().st_size <= _MOST_BYTES][:_MOST_TABLES]


def _columns(path: Path) -> dict[str, list[str]]:
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file, delimiter=_TABLES[path.suffix]))
    except (OSError, UnicodeDecodeError, csv.Error):
        return {}
    head, body = (rows[0], rows[1:]) if rows else ([], [])
    if not _LEAST_ROWS <= len(body) <= _MOST_ROWS or any(len(row) != len(head) for row in body):
        return {}
    return {name: [row[at] for row in body] for at, name in enumerate(head)}


def _apart_in(
    table: dict[str, list[str]], files: Sequence[PurePath], labels: dict[str, list[Any]]
) -> dict[str, Any] | None:
    for column, names in table.items():
        rows = _rows_of(names, files)
        if not rows:
            continue
        for attribute, held in labels.items():
            ordered = len(held) == len(names) and _same_labels(table, column, held)
            apart = [at for at, row in enumerate(rows) if row is not None and row != at] if ordered else []
            known = [(at, row) for at, row in enumerate(rows) if row is not None and at < len(held)]
            wrong = sum(held[at] != held[row] for at, row in known)
            if apart and wrong > _MOST_WRONG * len(known):
                first = apart[0]
                return {
                    "labels": attribute,
                    "column": column,
                    "row": first,
                    "name": files[first].name,
                    "other": names[first] if first < len(names) else "",
                    "apart": len(apart),
                    "wrong": wrong,
                    "rows": len(known),
                }
    return None


def _rows_of(names: list[str], files: Sequence[PurePath]) -> list[int | None]:
    """The row of the table that names each file; nothing where the column does not name the files."""
    places = {PurePath(name).name: row for row, name in enumerate(names)}
    if len(places) < len(names):
        return []
    rows = [places.get(file.name, places.get(file.stem)) for file in files]
    return rows if sum(row is not None for row in rows) >= _SHARED * len(files) else []


def _same_labels(table: dict[str, list[str]], naming: str, held: list[Any]) -> bool:
    """Whether some column holds these labels in their very order, as they are or numbered anew."""
    return any(_tells(values, held) for column, values in table.items() if column != naming)


def _tells(written: list[str], held: list[Any]) -> bool:
    if len(set(held)) < 2:
        return False
    if all(_equals(text, label) for text, label in zip(written, held, strict=True)):
        return True
    # Names that became numbers: one for each, and few of them, since many would fit in any order.
    pairs = set(zip(written, held, strict=True))
    return len(pairs) == len(set(written)) == len(set(held)) <= len(held) // 4


def _equals(text: str, label: Any) -> bool:
    try:
        return text == label if isinstance(label, str) else float(text) == float(label)
    except ValueError:
        return False
