"""Several files as one data set: their columns are matched by name, and what does not fit is told."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
import torch
from torch_geometric.data import HeteroData

import torchmedic
from torchmedic.checkups.data.check import Checkup, check_paths
from torchmedic.checkups.data.options import Options
from torchmedic.facts import DataSource, FileTrouble, Run, TableColumn
from torchmedic.findings import Diagnosis
from torchmedic.triage import examine

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


def _graphs(folder: Path, bad: dict[str, int]) -> None:
    for name, row in bad.items():
        graph = HeteroData()
        graph["admission"].x = torch.ones(20, 3)
        graph["item"].x = torch.ones(20, 3)
        graph["item"].x[row] = torch.nan
        graph["admission", "has", "item"].edge_index = torch.arange(20).repeat(2, 1)
        torch.save(graph, folder / name)


def _told(folder: Path) -> dict[str, Diagnosis]:
    verdict = examine(Run(observations=tuple(check_paths((".",), Options()).seen)))
    assert len({d.code for d in verdict.diagnoses}) == len(verdict.diagnoses)
    return {d.code: d for d in verdict.diagnoses}


def test_what_is_found_in_many_files_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _graphs(tmp_path, {"a.pt": 7, "b.pt": 11, "c.pt": 13})
    told = _told(tmp_path)
    bad, lone = told["DAT100"], told["DAT130"]
    assert bad.where is not None
    assert bad.where.file == "a.pt"
    assert bad.evidence[1:] == (
        "`b.pt`: `row 11: item.x[11, 0] = nan`, `row 11: item.x[11, 1] = nan`",
        "`c.pt`: `row 13: item.x[13, 0] = nan`, `row 13: item.x[13, 1] = nan`",
    )
    assert bad.culprit.rows == 9
    assert lone.severity == "hint"
    assert lone.headline == "no edge leads to the 20 nodes of type `admission`, and in 2 more files"
    assert lone.evidence[-1] == "likewise in 2 more files: `b.pt`, `c.pt`"


def test_of_very_many_files_some_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _graphs(tmp_path, {f"{number:03d}.pt": number % 20 for number in range(30)})
    bad = _told(tmp_path)["DAT100"]
    assert bad.headline == "`item.x` holds 3 NaN among 60 values, and in 29 more files"
    assert bad.evidence[-1].endswith(", …")
    assert len(bad.culprit.examples) == 20


def test_files_that_one_line_asks_about_are_named_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _graphs(tmp_path, {"a.pt": 7, "b.pt": 11})
    told = {d.code: d for d in torchmedic.check_data(".").diagnoses}
    assert told["DAT100"].headline == "`item.x of a.pt` holds 3 NaN among 60 values, and 1 other array"
    assert told["DAT100"].evidence[0] == "`item.x of b.pt`: 3 NaN of 60 values"
    assert told["DAT130"].evidence[-1] == "likewise in other files: `b.pt`"


def test_tables_that_share_but_a_name_are_checked_apart(tmp_path: Path) -> None:
    _write(tmp_path / "table1.csv", "a,b,c", ROWS)
    _write(tmp_path / "table2.csv", "name,x,y", ROWS)
    assert _sizes(_checked(tmp_path)) == [60, 60]
