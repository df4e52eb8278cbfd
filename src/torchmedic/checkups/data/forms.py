"""Text files in another form than the engine reads: copied as UTF-8 with tabs, and decimal commas made points."""

from __future__ import annotations

import csv
import io
import itertools
import re
from pathlib import Path

from torchmedic.checkups.data.lines import bytes_of, first_lines, text_of

_HEAD = 1 << 16
_COMMA_NUMBER = r"[+-]?(?:[0-9]{1,3}(?:\.[0-9]{3})+|[0-9]+)(?:,[0-9]+)?"
_PLAIN_COMMA_NUMBER = r"[+-]?[0-9]+(?:,[0-9]+)?"
# A number with both marks, and one with a point alone.
BOTH_MARKS = r"\s*[+-]?[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]+\s*"
ONE_POINT = r"\s*[+-]?[0-9]+\.[0-9]+\s*"
_READABLE = 0.8
_PAIRED = 0.7
_USUAL = 0.5
# So many lines with letters beyond ASCII are no UTF-8 by chance.
_LINES_BY_CHANCE = 10
# How the name of a copy ends whose cells were divided by blanks.
BLANKS = "-tabs.csv"
# How an encoding is told that begins further down, behind lines of UTF-8.
MIXED = "utf-8, then "


def encoding_of(path: Path) -> str:
    """utf-8, or what else the first bytes of a text look like."""
    with bytes_of(path) as file:
        head = file.read(_HEAD)
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    try:
        # The last character may be cut.
        head[:-4].decode("utf-8") if len(head) == _HEAD else head.decode("utf-8")
    except UnicodeDecodeError as error:
        ahead = sum(not line.isascii() for line in head[: error.start].split(b"\n")[:-1])
        mixed = MIXED if ahead >= _LINES_BY_CHANCE else ""
        return mixed + ("gb18030" if is_chinese(head[error.start :] if mixed else head) else "cp1252")
    return "utf-8"


def is_chinese(head: bytes) -> bool:
    """Whether bytes beyond ASCII come in pairs, as GBK writes characters, and most of these are everyday ones.

    In western texts they stand alone; where two letters meet, as in `Größe`, the character they make is a rare one.
    """
    runs = [len(run) for run in re.findall(rb"[\x81-\xfe]+", head)]
    if sum(run for run in runs if run > 1) < _PAIRED * sum(runs):
        return False
    written = re.findall(rb"[\x81-\xfe][\x40-\x7e\x80-\xfe]", head)
    usual = sum(0xA1 <= pair[0] <= 0xD7 and pair[1] >= 0xA1 for pair in written)
    return bool(usual >= _USUAL * len(written))


def as_utf8(path: Path, encoding: str, folder: Path) -> Path:
    """A copy in UTF-8. What does not fit the encoding becomes a replacement mark."""
    copy = folder / f"{len(list(folder.iterdir()))}-utf8.csv"
    if encoding.startswith(MIXED):
        with bytes_of(path) as file, copy.open("w", encoding="utf-8", newline="") as written:
            written.writelines(_in_either(line, encoding.removeprefix(MIXED)) for line in io.BufferedReader(file))
        return copy
    with text_of(path, encoding) as text, copy.open("w", encoding="utf-8", newline="") as written:
        for piece in iter(lambda: text.read(_HEAD), ""):
            written.write(piece)
    return copy


def _in_either(line: bytes, other: str) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode(other, "replace")


def first_other_line(path: Path) -> int:
    """The line at which a text ceases to be UTF-8."""
    with bytes_of(path) as file:
        head = file.read(_HEAD)
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        return int(head[: error.start].count(b"\n")) + 1
    return 0


def divided_by_blanks(path: Path) -> bool:
    """Whether the first lines are columns of numbers with blanks between them, as many as make them look good."""
    written = [line for line in first_lines(path) if line.strip()]
    tabs = {line.count("\t") for line in written}
    if len(tabs) == 1 and min(tabs) > 0:
        # One tab a cell: between two of them a cell may be empty further down, and blanks belong to the cells.
        return False
    lines = [line.split() for line in written]
    if len(lines) < 2 or len(lines[0]) < 2:
        return False
    # A line may have lost a cell.
    if sum(len(cells) == len(lines[0]) for cells in lines) < max(2, _READABLE * len(lines)):
        return False
    cells = [cell for line in lines[1:] for cell in line]
    return 2 * sum(re.fullmatch(r"[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?", cell) is not None for cell in cells) >= len(cells)


def with_tabs(path: Path, folder: Path) -> Path:
    """A copy with one tab between cells, line by line the same."""
    copy = folder / f"{len(list(folder.iterdir()))}{BLANKS}"
    with text_of(path) as text, copy.open("w", encoding="utf-8", newline="") as written:
        written.writelines("\t".join(line.split()) + "\n" for line in text)
    return copy


def columns_with_commas(path: Path, delimiter: str, header: int) -> list[int]:
    """Columns whose numbers have decimal commas: 21,5 or 1.013,25."""
    if delimiter == ",":
        return []
    records = list(csv.reader(first_lines(path), delimiter=delimiter))[header:]
    return [i for i, column in enumerate(itertools.zip_longest(*records, fillvalue="")) if _has_commas(column)]


def _has_commas(cells: tuple[str, ...]) -> bool:
    said = [cell.strip() for cell in cells if cell.strip()]
    numbers = [cell for cell in said if re.fullmatch(_COMMA_NUMBER, cell)]
    return len(numbers) > _READABLE * len(said) and any("," in cell for cell in numbers)


def with_point(cell: str, thousands: bool = True) -> str:
    """A number with a decimal comma as others write it; any other text as it is.

    Without numbers of both marks a point is none between thousands.

    >>> with_point("1.013,25"), with_point("k.A."), with_point("1.013", thousands=False)
    ('1013.25', 'k.A.', '1.013')
    """
    said = cell.strip()
    form = _COMMA_NUMBER if thousands else _PLAIN_COMMA_NUMBER
    return said.replace(".", "").replace(",", ".") if re.fullmatch(form, said) else cell


def point_sql(column: str, thousands: bool) -> str:
    """The same in SQL."""
    number = f"replace(replace(trim({column}), '.', ''), ',', '.')"
    form = _COMMA_NUMBER if thousands else _PLAIN_COMMA_NUMBER
    return f"CASE WHEN regexp_full_match(trim({column}), '{form}') THEN {number} ELSE {column} END"
