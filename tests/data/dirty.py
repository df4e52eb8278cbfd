"""Dirty tables with everything that the rules about tables know, small enough to count by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd


def lab_events(rows: int = 3000) -> pd.DataFrame:
    """Lab events with two constant items, one that is all but constant, missing and infinite values."""
    rng = np.random.default_rng(0)
    item = rng.integers(100, 130, rows)
    value = rng.normal(50, 8, rows).round(2)
    value[item == 107] = 12.34
    value[item == 111] = 97.7
    value[item == 120] = 1000 + 1e-6 * (np.arange(rows)[item == 120] % 5)
    free = np.flatnonzero(~np.isin(item, [107, 111, 120]))
    value[free[:3]] = np.inf
    value[free[3]] = 1e9
    events = pd.DataFrame({"itemid": item, "patient_id": rng.integers(0, 40, rows), "valuenum": value, "unit": 7})
    events["weight"] = rng.normal(70, 9, rows).round(3)
    events["label"] = rng.integers(1, 4, rows)
    events["outcome_code"] = events.label.map({1: "x", 2: "y", 3: "z"})
    events["split"] = np.where(rng.random(rows) < 0.8, "train", "test")
    again = events.iloc[:120].assign(split="test")
    return pd.concat([events, again], ignore_index=True)


def write_csv(folder: Path) -> Path:
    """The table as CSV, with text and missing cells among the numbers."""
    events = lab_events()
    written = events.assign(weight=events.weight.astype(object))
    written.loc[1234, "weight"] = "<40"
    written.loc[2000, "weight"] = "NA"
    written.loc[2100, "weight"] = None
    written.to_csv(folder / "events.csv", index=False)
    return folder / "events.csv"


def visits(rows: int = 2400) -> pd.DataFrame:
    """Visits with what lab events have not: dates, units, codes for missing, counters, numbers out of range."""
    rng = np.random.default_rng(1)
    weight = rng.normal(75, 12, rows).clip(35)
    day = pd.Series(pd.date_range("2020-01-01", periods=rows, freq="7h").strftime("%Y-%m-%dT%H:%M:%S"))
    seen = day.where(rng.random(rows) < 0.4, day + "Z")
    seen[7] = "2020-02-30T10:00:00"
    table = pd.DataFrame({"number": np.arange(rows), "seen": seen, "chol": rng.normal(190, 30, rows).round(0)})
    table.loc[rng.random(rows) < 0.03, "chol"] = -999
    table["weight"] = np.where(rng.random(rows) < 0.3, weight * 2.2046, weight).round(1)
    table["warmth"] = np.where(rng.random(rows) < 0.2, 98.6, 37.0) + rng.normal(0, 0.3, rows).round(2)
    table["cost"] = rng.normal(2e5, 3e4, rows).round(2)
    table["bill"] = rng.integers(3 * 10**7, 9 * 10**7, rows)
    table["site"] = "A"
    table["lengths"] = [[1.0] * (7 if i == 9 else 8) for i in range(rows)]
    table["vector"] = [[i * 0.5, float("nan") if i == 3 else 1.0, None if i in (3, 90) else 2.0] for i in range(rows)]
    table["label"] = np.sort(np.where(rng.random(rows) < 0.01, 3, rng.integers(0, 2, rows)))
    return pd.concat([table, table.iloc[:40].assign(label=3, number=table.number[:40] + rows)], ignore_index=True)
