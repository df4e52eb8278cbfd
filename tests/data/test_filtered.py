"""`torchmedic data --where`: rows keep their numbers, and what the filter asked for is no finding."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from torchmedic.cli.data import command


@pytest.fixture
def beds() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {"ward": rng.choice(["north", "south"], 600), "bed": rng.integers(0, 12, 600), "pulse": rng.normal(80, 9, 600)}
    )
    frame.loc[(frame["ward"] == "south") & (frame["bed"] == 5), "pulse"] = 61.0
    frame.loc[[7, 310, 599], "pulse"] = np.inf
    frame.loc[[7, 310, 599], ["ward", "bed"]] = ["south", 3]
    return frame


def _checked(path: Path, *options: str) -> dict[str, Any]:
    CliRunner().invoke(command, [str(path), *options, "--json", str(path.parent / "out.json")])
    found: dict[str, Any] = json.loads((path.parent / "out.json").read_text())
    return found


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_rows_are_counted_in_the_file_not_in_what_is_left_of_it(
    ending: str, beds: pd.DataFrame, tmp_path: Path
) -> None:
    path = tmp_path / f"beds.{ending}"
    if ending == "parquet":
        beds.to_parquet(path)
    else:
        beds = beds[~np.isinf(beds["pulse"])].reset_index(drop=True) if ending == "jsonl" else beds
        beds.to_csv(path, index=False) if ending == "csv" else beds.to_json(path, orient="records", lines=True)
    rows = tmp_path / "bad.csv"
    verdict = _checked(path, "--where", "ward = 'south'", "--group-by", "bed", "--rows", str(rows))
    bad = pd.read_csv(rows)
    flat = bad[bad["trouble"] == "flat-group"]
    asked = (beds["ward"] == "south") & (beds["bed"] == 5) & ~np.isinf(beds["pulse"])
    assert sorted(flat["row"]) == beds.index[asked].to_list()
    assert set(flat["column"]) == {"pulse"}
    assert set(flat["group"].astype(int)) == {5}
    if ending != "jsonl":
        assert sorted(bad.loc[bad["trouble"] == "inf", "row"]) == [7, 310, 599]
        infinite = next(d for d in verdict["diagnoses"] if d["code"] == "DAT100")
        assert all(f"row {row}" in str(infinite["culprit"]["examples"]) for row in (7, 310, 599))


def test_the_column_of_the_filter_is_constant_by_wish(beds: pd.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "beds.csv"
    beds.assign(site="A ward").to_csv(path, index=False)
    told = [
        d for d in _checked(path, "--where", "\"ward\" = 'south' AND bed <> 9")["diagnoses"] if d["code"] == "DAT103"
    ]
    assert [(d["culprit"]["field"], d["severity"]) for d in told] == [("site", "hint")]
    assert "deviation" not in str(told)
