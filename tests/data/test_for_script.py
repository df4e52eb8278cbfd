"""`torchmedic data --for`: files, keys and divisions are those that a run of the script was seen to use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from tests.data.dirty import lab_events
from torchmedic.cli.data import command
from torchmedic.probes.data.divisions import followed

WITH_PANDAS = """
import argparse
import numpy as np
import pandas as pd
import torch

def read(path):
    return pd.read_csv(path)

def spread(events):
    return events.groupby("itemid")["valuenum"].agg(["mean", "std"])

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
data = parser.parse_args().data
events = read(data)
by_item = spread(events)
mean, std = events["itemid"].map(by_item["mean"]), events["itemid"].map(by_item["std"])
events["z"] = (events["valuenum"] - mean) / std  # divides
x = torch.from_numpy(np.load("x.npy"))
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    model(x.float()).mean().backward()
    optimizer.step()
    open("steps.txt", "a").write("x")
"""
WITH_OTHERS = """
import csv
import sqlite3
import duckdb
import polars as pl

events = pl.read_parquet("labs.parquet")
out = events.with_columns(
    z=(pl.col("valuenum") - pl.col("valuenum").mean().over("itemid"))
    / pl.col("valuenum").std().over("itemid")
)
more = duckdb.sql("SELECT itemid, stddev_samp(valuenum) FROM 'more.parquet' GROUP BY itemid").fetchall()
with open("notes.csv") as file:
    rows = list(csv.reader(file))
base = sqlite3.connect("base.sqlite")
settings = open("settings.json").read()
raise KeyError("the end")
"""


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(command, list(arguments))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _verdict(folder: Path) -> dict[str, Any]:
    verdict: dict[str, Any] = json.loads((folder / "out.json").read_text())
    return verdict


def test_files_keys_and_the_dividing_line_come_from_the_script(folder: Path) -> None:
    lab_events().to_csv(folder / "labs.csv", index=False)
    np.save(folder / "x.npy", np.ones((4, 2), dtype=np.float32))
    (folder / "train.py").write_text(WITH_PANDAS)
    answer = _run("--json", "out.json", "--for", "train.py", "--data", "labs.csv")
    assert answer.exit_code == 1, answer.output
    sources = {source["source"]: source for source in _verdict(folder)["data"]["sources"]}
    assert set(sources) == {"labs.csv", "x.npy"}
    assert (sources["labs.csv"]["roles"]["group"], sources["labs.csv"]["read_at"]) == ("itemid", "train.py:8")
    flat = next(d for d in _verdict(folder)["diagnoses"] if d["code"] == "DAT102")
    assert flat["where"]["line"] == 1 + WITH_PANDAS.splitlines().index(_line(WITH_PANDAS, "# divides"))
    assert (flat["severity"], flat["culprit"]["field"]) == ("error", "valuenum")
    assert flat["culprit"]["group"] == {"column": "itemid", "values": ["111", "107", "120"]}
    assert not (folder / "steps.txt").exists(), "the training had begun and went on"


def _line(text: str, mark: str) -> str:
    return next(line for line in text.splitlines() if line.endswith(mark))


def test_a_script_that_dies_is_checked_by_what_it_had_read(folder: Path) -> None:
    import sqlite3

    lab_events().to_parquet(folder / "labs.parquet", index=False)
    lab_events(400).to_parquet(folder / "more.parquet", index=False)
    (folder / "notes.csv").write_text("a,b\n1,2\n3,4\n")
    (folder / "settings.json").write_text("{}")
    with sqlite3.connect(folder / "base.sqlite") as base:
        base.execute("CREATE TABLE m AS SELECT 1 AS k, 2.5 AS v")
    (folder / "prepare.py").write_text(WITH_OTHERS)
    answer = _run("--json", "out.json", "--for", "prepare.py")
    assert answer.exit_code == 1, answer.output
    assert "prepare.py died of KeyError: 'the end'" in answer.output
    sources = {source["source"]: source["roles"].get("group") for source in _verdict(folder)["data"]["sources"]}
    assert sources == {"labs.parquet": "itemid", "more.parquet": "itemid", "notes.csv": None, "base.sqlite:m": None}
    places = {d["where"]["line"] for d in _verdict(folder)["diagnoses"] if d["code"] == "DAT102"}
    assert places == {10}, "of the lines of one key, the one that divides"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "no such script"),
        ("def broken(:\n", "died of SyntaxError"),
        ("import nowhere_to_be_found\n", "died of ModuleNotFoundError: No module named 'nowhere_to_be_found'"),
        ("raise SystemExit(3)\n", "ended with exit code 3 before it read a data file"),
        ("print('hello')\n", "read no data file that can be checked"),
    ],
)
def test_a_script_that_gives_nothing_is_one_line_and_exit_2(text: str | None, said: str, folder: Path) -> None:
    if text is not None:
        (folder / "train.py").write_text(text)
    answer = _run("--for", "train.py")
    assert (answer.exit_code, len(answer.output.strip().splitlines())) == (2, 1), answer.output
    assert said in answer.output


DIVISIONS = {
    "a lambda": ("df['z'] = df.groupby('k')['v'].transform(lambda x: (x - x.mean()) / x.std())", 1, 1),
    "a function": ("def z(x):\n    return (x - x.mean()) / x.std()\ng = df.groupby('k').v\ny = g.transform(z)", 3, 2),
    "two steps": ("g = df.groupby('k')['v']\ny = (df.v - g.transform('mean')) / g.transform('std')", 1, 2),
    "a merge": ("s = df.groupby('k').v.agg(['mean', 'std'])\nd = df.merge(s, on='k')\nd['z'] = d.v / d['std']", 1, 3),
    "a loop": ("for k, g in df.groupby('k'):\n    v = g['v']\n    out.append((v - v.mean()) / v.std())", 1, 3),
    "an argument": ("s = df.groupby('k').v.std()\ny = f(df.v, s)\ndef f(a, sigma):\n    return a / sigma", 1, 4),
    "an attribute": (
        "class Scale:\n    def fit(self, df):\n        self.s = df.groupby('k').v.std()\n"
        "    def run(self, df):\n        return df.v / df.k.map(self.s)",
        3,
        5,
    ),
    "ends": ("g = df.groupby('k').v\nlow, high = g.min(), g.max()\ny = (x - low) / (high - low)", 1, 3),
    "groups anew": (
        "s = df.groupby('k').v.std()\ny = (df.v - df.groupby('k').v.transform('mean')) / df.k.map(s)",
        1,
        2,
    ),
    "no spread": ("m = df.groupby('k').v.mean()\ny = df.v / 3", 1, None),
    "spread of others": ("df['f'] = df.groupby('k').v.min()\nstd = load()\ny = df.v / df.k.map(std)", 1, None),
    "another division": ("m = df.groupby('k').v.std()\ny = df.v / len(df)", 1, None),
}


@pytest.mark.parametrize("name", DIVISIONS)
def test_groups_are_followed_to_the_division_by_their_spread(name: str, tmp_path: Path) -> None:
    text, grouped, divided = DIVISIONS[name]
    (tmp_path / "script.py").write_text(text + "\n")
    found = followed(str(tmp_path / "script.py"), grouped)
    assert found is not None
    assert found.division == divided
    assert found.spread is (name not in ("no spread", "spread of others"))


OTHER_GROUPS = """
import pandas as pd

def read():
    events = pd.read_csv("labs.csv")
    first = events.groupby("patient")["time"].transform("min")
    events["since"] = events["time"] - first
    return events

def z_scores(events):
    values = events.groupby("itemid")["valuenum"]
    mean, std = values.mean(), values.std()
    return (events["valuenum"] - events["itemid"].map(mean)) / events["itemid"].map(std)  # divides

events = read()
events["z"] = z_scores(events)
features = events[["category", "weight", "z"]].to_numpy()
"""


def test_the_key_and_the_column_are_those_of_the_division_alone(folder: Path) -> None:
    events = lab_events()
    events = events.assign(patient=events.index // 4, time=events.index * 1.5, category=events["itemid"] % 7)
    events["weight"] = events.groupby("patient")["weight"].transform("first")
    events.to_csv(folder / "labs.csv", index=False)
    (folder / "prepare.py").write_text(OTHER_GROUPS)
    _run("--json", "out.json", "--rows", "bad.csv", "--for", "prepare.py")
    assert _verdict(folder)["data"]["sources"][0]["roles"]["group"] == "itemid"
    flat = [d["culprit"] for d in _verdict(folder)["diagnoses"] if d["code"] == "DAT102"]
    assert [(one["field"], one["group"]["values"]) for one in flat] == [("valuenum", ["111", "107", "120"])]
    bad = pd.read_csv(folder / "bad.csv")
    listed = bad[bad["trouble"] == "flat-group"]
    assert sorted(listed["row"]) == events.index[events["itemid"].isin([111, 107, 120])].to_list()


def test_two_keys_have_each_its_own_columns(folder: Path) -> None:
    lab_events().assign(ward=lambda frame: frame["itemid"] % 2, dose=1.5).to_csv(folder / "labs.csv", index=False)
    (folder / "prepare.py").write_text(
        "import pandas as pd\ndf = pd.read_csv('labs.csv')\n"
        "w = df['weight'] / df.groupby('itemid')['weight'].transform('std')\n"
        "d = df['dose'] / df.groupby('ward')['dose'].transform('std')\n"
    )
    _run("--json", "out.json", "--for", "prepare.py")
    flat = [d for d in _verdict(folder)["diagnoses"] if d["code"] == "DAT102"]
    assert [(d["where"]["line"], d["culprit"]["field"], d["culprit"]["group"]["column"]) for d in flat] == [
        (4, "dose", "ward")
    ]


def test_what_the_key_alone_says_has_no_spread_to_miss(folder: Path) -> None:
    events = lab_events().assign(dose=lambda frame: frame["itemid"] / 2)
    events[["itemid", "dose", "weight"]].to_csv(folder / "labs.csv", index=False)
    _run("labs.csv", "--group-by", "itemid", "--json", "out.json", "--rows", "bad.csv")
    assert [d for d in _verdict(folder)["diagnoses"] if d["code"] == "DAT102"] == []
    assert "flat-group" not in (folder / "bad.csv").read_text()


def test_columns_that_the_script_does_not_scale_are_left_alone(folder: Path) -> None:
    events = lab_events().assign(dose=lambda frame: frame["itemid"] / 2)
    events.to_csv(folder / "labs.csv", index=False)
    (folder / "prepare.py").write_text(
        "import pandas as pd\ndf = pd.read_csv('labs.csv')\ng = df.groupby('itemid')['weight']\n"
        "df['w'] = (df['weight'] - g.transform('mean')) / g.transform('std')\n"
    )
    _run("--json", "out.json", "--for", "prepare.py")
    assert [d for d in _verdict(folder)["diagnoses"] if d["code"] == "DAT102"] == []


def test_several_keys_make_one(folder: Path) -> None:
    events = lab_events().assign(weight=lambda frame: frame["weight"].where(frame["split"] + "-" != "test-", 70.0))
    events["weight"] = events["weight"].where(
        (events["itemid"] == 105) | (events["split"] == "train"), events["valuenum"]
    )
    events.to_csv(folder / "labs.csv", index=False)
    (folder / "prepare.py").write_text(
        "import pandas as pd\ndf = pd.read_csv('labs.csv')\ng = df.groupby(['itemid', 'split'])['weight']\n"
        "df['w'] = (df['weight'] - g.transform('mean')) / g.transform('std')\n"
    )
    _run("--json", "out.json", "--for", "prepare.py")
    flat = next(d for d in _verdict(folder)["diagnoses"] if d["code"] == "DAT102")
    assert (flat["where"]["line"], flat["culprit"]["group"]["column"]) == (4, "itemid,split")
    assert "105,test" in flat["culprit"]["group"]["values"]
