"""Dates as people write them: which rows come after which."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from torchmedic.checkups.data.check import check_paths
from torchmedic.checkups.data.options import Options
from torchmedic.facts import SplitInTime


def _split(folder: Path, form: str, cut: int, begin: int) -> list[SplitInTime]:
    days = pd.date_range("2022-11-01", periods=300)
    frame = pd.DataFrame({"when": days.strftime(form), "flow": np.sin(np.arange(300)), "rain": np.arange(300) % 7})
    frame[:cut].to_csv(folder / "train.csv", index=False)
    frame[begin:].to_csv(folder / "test.csv", index=False)
    seen = check_paths((str(folder / "train.csv"), str(folder / "test.csv")), Options(time="when")).seen
    return [fact for fact in seen if isinstance(fact, SplitInTime)]


FORMS = [
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d.%m.%Y",
    "%d-%m-%Y 09:30",
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%Y%m%dT0930",
    "%Y-%m-%dT09:30:00Z",
]


@pytest.mark.parametrize("form", FORMS)
def test_later_days_are_later_however_they_are_written(form: str, tmp_path: Path) -> None:
    assert [fact.after for fact in _split(tmp_path, form, cut=200, begin=200)] == [0]
    mixed = _split(tmp_path, form, cut=200, begin=150)
    assert [(fact.after, fact.train_rows) for fact in mixed] == [(49, 200)]


@pytest.mark.parametrize("form", ["%d %b %Y", "%A", "%d/%m/%y"])
def test_of_other_texts_no_order_is_told(form: str, tmp_path: Path) -> None:
    assert _split(tmp_path, form, cut=200, begin=150) == []


def test_days_that_may_be_months_are_not_ordered(tmp_path: Path) -> None:
    days = [f"{i % 12 + 1:02d}/{i % 11 + 1:02d}/2023" for i in range(300)]
    frame = pd.DataFrame({"when": days, "flow": np.sin(np.arange(300)), "rain": np.arange(300) % 7})
    frame[:200].to_csv(tmp_path / "train.csv", index=False)
    frame[200:].to_csv(tmp_path / "test.csv", index=False)
    seen = check_paths((str(tmp_path / "train.csv"), str(tmp_path / "test.csv")), Options(time="when")).seen
    assert not any(isinstance(fact, SplitInTime) for fact in seen)
