"""Several files as one data set: their columns are matched by name, and what does not fit is told."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from torchmedic.checkups.data.check import Checkup, check_paths
from torchmedic.checkups.data.options import Options
from torchmedic.facts import DataSource, FileTrouble, TableColumn

ROWS = [(i, i % 13 + 100.5, i % 5 + 1000) for i in range(60)]


def _write(path: Path, header: str, rows: Iterable[tuple[object, ...]]) -> None:
    path.write_text((header + "\n" if header else "") + "".join(",".join(map(str, row)) + "\n" for row in rows))


def _checked(folder: Path) -> Checkup:
    return check_paths((str(folder / "*.csv"),), Options())


def _ends(checkup: Checkup) -> dict[str, tuple[float | None, float | None]]:
    return {fact.column: (fact.minimum, fact.maximum) for fact in checkup.seen if isinstance(fact, TableColumn)}


def _sizes(checkup: Checkup) -> list[int | None]:
    return [fact.rows for fact in checkup.seen if isinstance(fact, DataSource)]


def test_columns_in_another_order_are_matched_by_name(tmp_path: Path) -> None:
    _write(tmp_path / "part-0.csv", "a,b,c", ROWS)
    _write(tmp_path / "part-1.csv", "c,a,b", [(c, a, b) for a, b, c in ROWS] + [(1000, 7, "oops")])
    checkup = _checked(tmp_path)
    assert _ends(checkup) == {"a": (0, 59), "b": (100.5, 112.5), "c": (1000, 1004)}
    texts = next(fact.texts for fact in checkup.seen if isinstance(fact, TableColumn) and fact.column == "b")
    assert texts is not None
    assert [(cell.file, cell.line) for cell in texts.cells] == [(str(tmp_path / "part-1.csv"), 62)]


def test_a_part_with_other_columns_is_told_and_loses_no_row(tmp_path: Path) -> None:
    _write(tmp_path / "part-0.csv", "a,b,c", ROWS)
    _write(tmp_path / "part-1.csv", "a,b,weight", ROWS)
    checkup = _checked(tmp_path)
    told = [fact for fact in checkup.seen if isinstance(fact, FileTrouble)]
    assert [(Path(fact.source).name, fact.trouble) for fact in told] == [("part-1.csv", "other-columns")]
    assert told[0].detail == "without c and with weight, unlike part-0.csv"
    nulls = {fact.column: fact.nulls for fact in checkup.seen if isinstance(fact, TableColumn)}
    assert (_sizes(checkup), nulls) == ([120], {"a": 0, "b": 0, "c": 60, "weight": 60})


def test_parts_that_were_cut_off_the_first_have_its_names(tmp_path: Path) -> None:
    _write(tmp_path / "part-0.csv", "a,b,c", ROWS)
    _write(tmp_path / "part-1.csv", "", ROWS)
    checkup = _checked(tmp_path)
    assert (_sizes(checkup), list(_ends(checkup))) == ([120], ["a", "b", "c"])


def test_tables_that_share_but_a_name_are_checked_apart(tmp_path: Path) -> None:
    _write(tmp_path / "table1.csv", "a,b,c", ROWS)
    _write(tmp_path / "table2.csv", "name,x,y", ROWS)
    assert _sizes(_checked(tmp_path)) == [60, 60]
