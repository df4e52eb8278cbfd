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
