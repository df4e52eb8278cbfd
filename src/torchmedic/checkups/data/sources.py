"""Which data sets a list of paths, folders and patterns means, and of which format each is."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from torchmedic.checkups.data.lines import text_of
from torchmedic.checkups.data.options import DataError

_FORMATS = {
    "csv": (".csv", ".tsv", ".tab", ".data"),
    "parquet": (".parquet", ".pq"),
    "jsonl": (".jsonl", ".ndjson", ".json"),
    "arrow": (".arrow", ".feather", ".ipc"),
    "npy": (".npy",),
    "npz": (".npz",),
    "safetensors": (".safetensors",),
    "torch": (".pt", ".pth", ".ckpt"),
    "image": (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp"),
    "sqlite": (".sqlite", ".sqlite3", ".db"),
    "duckdb": (".duckdb",),
    "pickle": (".pkl", ".pickle", ".joblib"),
}
_BY_SUFFIX = {suffix: kind for kind, suffixes in _FORMATS.items() for suffix in suffixes}
_PACKED = (".gz", ".zst")
_MAGIC = (
    (b"PAR1", "parquet"),
    (b"SQLite format 3\0", "sqlite"),
    (b"\x93NUMPY", "npy"),
    (b"ARROW1", "arrow"),
    (b"\x89PNG", "image"),
    (b"\xff\xd8\xff", "image"),
)
_LONGEST_HEADER = 1 << 20
# Formats whose files make one data set when their names differ in digits only.
DATABASES = ("sqlite", "duckdb")
_JOINED = ("csv", "parquet", "jsonl", "arrow")


@dataclass(frozen=True)
class Source:
    """One data set: a name for people, a format, its files; of a database the one table that was asked for."""

    name: str
    format: str
    files: tuple[Path, ...]
    table: str = ""


def find_sources(targets: tuple[str, ...]) -> list[Source]:
    """The data sets meant by paths, folders and patterns; files of one set (part-0, part-1, …) together."""
    named: dict[tuple[str, str], list[Path]] = {}
    single = [source for target in targets if (source := _one_table(target)) is not None]
    alone = {source.name for source in single}
    for target in (target for target in targets if target not in alone):
        for path in _paths(target):
            kind = format_of(path)
            key = (kind, _set_name(path, kind))
            if path not in named.setdefault(key, []):
                named[key].append(path)
    return single + [_source(kind, part) for (kind, _), files in named.items() for part in _apart(kind, files)]


def _one_table(target: str) -> Source | None:
    """A table of a database, as the check-up itself names it: `events.db:measurements`."""
    head, _, table = target.rpartition(":")
    path = Path(head)
    if not head or not table or Path(target).exists() or not path.is_file() or format_of(path) not in DATABASES:
        return None
    return Source(target, format_of(path), (path,), table)


def _apart(kind: str, files: list[Path]) -> list[list[Path]]:
    """Tables that have little more than a name in common, as `table1.csv` and `table2.csv` may, are no one data set."""
    if kind != "csv" or len(files) < 2:
        return [files]
    parts: list[tuple[set[str], list[Path]]] = []
    for path in files:
        names = _header(path)
        same = next((part for known, part in parts if not names or _mostly(names, known)), None)
        if same is None:
            parts.append((names, same := []))
        same.append(path)
    return [part for _, part in parts]


def _mostly(names: set[str], known: set[str]) -> bool:
    return not known or 2 * len(names & known) >= max(len(names), len(known))


def _header(path: Path) -> set[str]:
    """The names on the first line; none where it holds numbers, or cannot be read."""
    try:
        with text_of(path) as text:
            line = text.readline(_LONGEST_HEADER).strip()
    except (OSError, EOFError, ValueError):
        return set()
    cells = [cell.strip(' "') for cell in re.split(r"[,;|\t]", line)]
    return set() if any(re.fullmatch(r"[-+.\d]*", cell) for cell in cells) else set(cells)


def _paths(target: str) -> Iterator[Path]:
    path = Path(target)
    if path.is_dir():
        found = sorted(_walk(path))
        if not found:
            raise DataError(f"{target}: no data files in this folder")
        yield from found
    elif path.exists():
        yield path
    else:
        matches = sorted(Path(match) for match in glob.glob(target, recursive=True))
        if not any(path.exists() for path in matches):
            raise DataError(f"{target}: no such file")
        found = [path for match in matches for path in _matched(match)]
        if not found:
            raise DataError(f"{target}: no data files in what this pattern names")
        yield from dict.fromkeys(found)


def _matched(path: Path) -> list[Path]:
    """The file that a pattern names, or the data files below a folder that it names."""
    return sorted(_walk(path)) if path.is_dir() else [path] if path.is_file() else []


def _walk(folder: Path) -> Iterator[Path]:
    """Data files below a folder. Links to folders are not followed: they may lead in a circle."""
    for here, folders, files in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in files:
            path = Path(here) / name
            if (
                not name.startswith(".")
                and _suffix(path) in _BY_SUFFIX
                and name not in ("state.json", "dataset_info.json", "dataset_dict.json")
            ):
                yield path


def _suffix(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in _PACKED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def by_name(path: str) -> str | None:
    """The format that a file's name promises.

    >>> by_name("data/part-*.csv.gz"), by_name("train.py")
    ('csv', None)
    """
    return _BY_SUFFIX.get(_suffix(Path(path)))


def format_of(path: Path) -> str:
    """The format by name, or by the first bytes where the name says nothing.

    >>> format_of(Path("labs.csv.gz")), format_of(Path("a/b.PT"))
    ('csv', 'torch')
    """
    named = by_name(str(path))
    if named is not None:
        return named
    try:
        with path.open("rb") as file:
            head = file.read(4096)
    except OSError:
        return "unknown"
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return kind
    return "unknown" if b"\0" in head else "csv"


def _set_name(path: Path, kind: str) -> str:
    if kind == "image":
        return "images"
    if kind not in _JOINED:
        return str(path)
    return str(path.parent / re.sub(r"\d+", "#", path.name))


def _source(kind: str, files: list[Path]) -> Source:
    if kind == "image":
        root = os.path.commonpath([str(path.parent) for path in files]) if len(files) > 1 else str(files[0])
        return Source(root or ".", kind, tuple(files))
    if len(files) == 1:
        return Source(str(files[0]), kind, tuple(files))
    return Source(str(files[0].parent / re.sub(r"\d+", "*", files[0].name)), kind, tuple(files))
