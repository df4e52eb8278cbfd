"""`torchmedic data` on real files: what it prints, writes and returns."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import jsonschema
import numpy as np
import pandas as pd
import pytest
import torch
from click.testing import CliRunner, Result

import torchmedic
from tests.data.dirty import lab_events, write_csv
from tests.laws.tree import PACKAGE
from torchmedic.checking import DirtyDataError
from torchmedic.cli import main
from torchmedic.cli.data import command


def _run(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


def test_clean_data_is_exit_0_and_one_line(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    pd.DataFrame({"a": rng.normal(size=99), "b": rng.normal(size=99)}).to_csv(tmp_path / "fine.csv", index=False)
    answer = _run(tmp_path / "fine.csv")
    assert (answer.exit_code, answer.output.splitlines()[-1]) == (0, "no trouble found")


def test_findings_are_exit_1_with_text_json_and_rows(tmp_path: Path) -> None:
    path = write_csv(tmp_path)
    answer = _run(path, "--group-by", "itemid", "--json", tmp_path / "out.json", "--rows", tmp_path / "bad.parquet")
    assert answer.exit_code == 1
    assert "error[DAT104]" in answer.output
    assert "events.csv:1236" in answer.output
    verdict = json.loads((tmp_path / "out.json").read_text())
    jsonschema.validate(verdict, json.loads((PACKAGE / "render" / "schema-1.json").read_text()))
    flat = next(d for d in verdict["diagnoses"] if d["code"] == "DAT102")
    assert flat["culprit"]["group"] == {"column": "itemid", "values": ["111", "107", "120"]}
    source = verdict["data"]["sources"][0]
    assert (source["rows"], source["roles"]["label"], source["guessed"]) == (3120, "label", ["label", "split"])
    bad = duckdb.sql(f"SELECT trouble, count(*) FROM '{tmp_path / 'bad.parquet'}' GROUP BY 1").fetchall()
    assert dict(bad) == {"inf": 6, "outlier": 2, "text": 2, "missing": 1, "flat-group": 301}


def test_rows_lists_bad_items_of_arrays_graphs_and_images(tmp_path: Path) -> None:
    import torch
    from PIL import Image
    from torch_geometric.data import Data

    stack = np.random.default_rng(0).normal(size=(50, 4, 4)).astype(np.float32)
    stack[7], stack[9, 1, 2], stack[11:31, 0, 0] = 3.0, np.nan, np.inf
    np.save(tmp_path / "stack.npy", stack)
    x = torch.randn(5, 3)
    x[4, 1] = torch.nan
    torch.save(Data(x=x, edge_index=torch.tensor([[0, 1], [1, 2]])), tmp_path / "graph.pt")
    for i in range(4):
        Image.fromarray(np.full((8, 8), 9 if i == 2 else 0, np.uint8) + np.eye(8, dtype=np.uint8) * (i != 2)).save(
            tmp_path / f"{i}.png"
        )
    (tmp_path / "3.png").write_bytes(b"nothing")
    assert _run(tmp_path, "--rows", tmp_path / "bad" / "rows.parquet").exit_code == 1
    read = f"SELECT * FROM '{tmp_path}/bad/rows.parquet'"
    rows = {(Path(source).name, *rest) for source, *rest, _, _ in duckdb.sql(read).fetchall()}
    assert {("stack.npy", 7, "stack", "single-value", "3.0"), ("stack.npy", 9, "stack[9, 1, 2]", "nan", "nan")} <= rows
    assert {("stack.npy", i, f"stack[{i}, 0, 0]", "inf", "inf") for i in range(11, 31)} <= rows
    assert ("graph.pt", 4, "graph.x[4, 1]", "nan", "nan") in rows
    assert ("2.png", None, "", "single-value", "9") in rows
    assert ("3.png", None, "broken") in {(name, row, trouble) for name, row, _, trouble, _ in rows}
    assert len(rows) == 25


def test_the_first_graph_of_a_process_is_read_like_the_next(tmp_path: Path) -> None:
    import torch
    from torch_geometric.data import HeteroData

    for name in ("a.pt", "b.pt"):
        graph = HeteroData()
        graph["patient"].x = torch.full((3, 2), torch.nan)
        graph["patient", "has", "test"].edge_index = torch.tensor([[0, 1], [1, 0]])
        torch.save(graph, tmp_path / name)
    # Only a new process has not imported PyTorch Geometric yet, which declares classes of its own safe.
    command_line = [sys.executable, "-m", "torchmedic", "data", "a.pt", "b.pt", "--json", "out.json"]
    subprocess.run(command_line, cwd=tmp_path, capture_output=True, timeout=120)
    diagnoses = json.loads((tmp_path / "out.json").read_text())["diagnoses"]
    assert "DAT138" not in {d["code"] for d in diagnoses}
    (found,) = [d for d in diagnoses if d["code"] == "DAT100"]
    assert any(note.startswith("`b.pt`: ") for note in found["evidence"])


def test_histograms_count_every_finite_value(tmp_path: Path) -> None:
    from torchmedic.checkups.data.check import check_paths
    from torchmedic.checkups.data.options import Options
    from torchmedic.facts import ColumnHistogram

    lab_events().to_parquet(tmp_path / "t.parquet", index=False)
    seen = check_paths((str(tmp_path / "t.parquet"),), Options()).seen
    drawn = {fact.column: fact.histogram for fact in seen if isinstance(fact, ColumnHistogram)}
    values = lab_events()["valuenum"].to_numpy()
    values = values[np.isfinite(values)]
    found = drawn["valuenum"]
    inside = values[(values >= found.low) & (values <= found.high)]
    assert found.counts == tuple(np.histogram(inside, bins=len(found.counts), range=(found.low, found.high))[0])
    assert (found.below, found.above) == ((values < found.low).sum(), (values > found.high).sum())


def test_the_page_holds_every_finding_and_needs_no_network(tmp_path: Path) -> None:
    path = write_csv(tmp_path)
    answer = _run(path, "--group-by", "itemid", "--html", tmp_path / "page.html", "--json", tmp_path / "out.json")
    assert answer.exit_code == 1
    page = (tmp_path / "page.html").read_text()
    found = json.loads((tmp_path / "out.json").read_text())["diagnoses"]
    assert len(found) > 5
    for diagnosis in found:
        assert diagnosis["code"] in page
    assert 'src="http' not in page
    assert "events.csv" in page


def test_the_same_table_in_every_format_gives_the_same_findings(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.feather

    events = lab_events()
    events.to_parquet(tmp_path / "t.parquet", index=False)
    events.to_csv(tmp_path / "t.csv", index=False)
    events.to_csv(tmp_path / "t.csv.gz", index=False)
    events.to_csv(tmp_path / "t.tsv", index=False, sep="\t")
    arrow = pyarrow.Table.from_pandas(events)
    pyarrow.feather.write_feather(arrow, tmp_path / "t.feather")
    duckdb.sql(f"COPY (SELECT * FROM '{tmp_path}/t.parquet') TO '{tmp_path}/t.csv.zst' (FORMAT csv, COMPRESSION zstd)")
    with duckdb.connect(str(tmp_path / "t.duckdb")) as base:
        base.execute(f"CREATE TABLE events AS SELECT * FROM '{tmp_path}/t.parquet'")
    expected = None
    for name in ("t.parquet", "t.csv", "t.csv.gz", "t.tsv", "t.csv.zst", "t.feather", "t.duckdb"):
        answer = _run(tmp_path / name, "--group-by", "itemid", "--json", tmp_path / "out.json")
        assert answer.exit_code == 1, (name, answer.output)
        found = json.loads((tmp_path / "out.json").read_text())["diagnoses"]
        said = [(d["code"], d["headline"]) for d in found]
        expected = expected or said
        assert said == expected, name


def test_a_table_of_sqlite_is_read_without_touching_it(tmp_path: Path) -> None:
    import sqlite3

    path = tmp_path / "base.sqlite"
    with sqlite3.connect(path) as base:
        base.execute("CREATE TABLE m (k INTEGER, v REAL)")
        base.executemany("INSERT INTO m VALUES (?, ?)", [(i, None if i == 7 else i * 0.37 % 5) for i in range(200)])
    before = path.read_bytes()
    answer = _run(path)
    assert "`v` is missing in 1 of 200 rows" in answer.output
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing.csv"], "no such file"),
        ([], "no PATH given"),
        (["t.csv", "--label", "nope"], "no column `nope`"),
        (["t.csv", "--where", "nope = 1"], "--where"),
        (["t.csv", "--memory-limit", "many"], "no amount of memory"),
        (["t.csv", "--rows", "bad.txt"], "must end in .parquet or .csv"),
        (["t.csv", "u.csv", "--label", "nope"], "no column `nope`"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("t.csv", "u.csv"):
        (tmp_path / name).write_text("a,b\n1,2\n3,4\n")
    answer = _run(*arguments)
    assert answer.exit_code == 2
    assert said in answer.output
    assert len(answer.output.strip().splitlines()) == 1


def test_frames_and_data_sets_are_checked_in_python() -> None:
    import polars
    import torch
    from torch.utils.data import TensorDataset

    frame = lab_events()
    assert "DAT102" in [d.code for d in torchmedic.check_data(frame, group_by="itemid").diagnoses]
    assert "DAT102" in [d.code for d in torchmedic.check_data(polars.from_pandas(frame), group_by="itemid").diagnoses]
    x = torch.randn(40, 1, 6, 6)
    x[11] = 0.0
    before = torch.get_rng_state()
    verdict = torchmedic.check_data({"train": TensorDataset(x), "test": TensorDataset(x[:4])})
    assert torch.equal(before, torch.get_rng_state())
    assert {"DAT113", "DAT125"} <= {d.code for d in verdict.diagnoses}


def test_training_and_test_texts_are_compared_by_folder_and_up_to_some_words(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    words = [f"word{i}" for i in range(300)]
    texts = [" ".join(rng.choice(words, 25)) for _ in range(320)]
    test = [*texts[300:], *texts[:12], *(text.replace(" word", " other ", 1) + " at last" for text in texts[20:50])]
    for part, rows in (("train", texts[:300]), ("test", test)):
        (tmp_path / part).mkdir()
        pd.DataFrame({"text": rows, "label": 0}).to_csv(tmp_path / part / "data-00000.csv", index=False)
    for kept, said in ((62, "12 of 62 rows of `test` are in `train` too"), (20, "")):
        pd.DataFrame({"text": test[:kept], "label": 0}).to_csv(tmp_path / "test" / "data-00000.csv", index=False)
        assert ("DAT113" in _run(tmp_path).output, said in _run(tmp_path).output) == (bool(said), True)
    pd.DataFrame({"text": [*test[:20], *test[32:]], "label": 0}).to_csv(tmp_path / "test/data-00000.csv", index=False)
    said = " ".join(_run(tmp_path).output.split())  # where a line ends depends on the folder's name
    assert "30 of 50 rows of `test` are in `train` too but for a few words" in said


def test_the_list_of_rows_holds_lists_and_days_too(tmp_path: Path) -> None:
    vectors: list[list[float | None]] = [[0.5, 1.0, 2.0] for _ in range(60)]
    vectors[7], vectors[9] = [0.5, None, float("nan")], [0.5]
    days = ["2021-02-31" if i in (3, 40) else f"2021-03-{i % 28 + 1:02}" for i in range(60)]
    pd.DataFrame({"v": vectors, "day": days, "x": np.arange(60) % 7}).to_parquet(tmp_path / "t.parquet", index=False)
    _run(tmp_path / "t.parquet", "--rows", tmp_path / "bad.parquet")
    found = duckdb.sql(f'SELECT "row", "column", trouble FROM \'{tmp_path / "bad.parquet"}\' ORDER BY ALL').fetchall()
    lists = [(7, "v", "bad-elements"), (9, "v", "other-length")]
    assert found == [(3, "day", "no-such-day"), *lists, (40, "day", "no-such-day")]


def test_a_sample_keeps_its_number_where_others_are_left_out() -> None:
    class Signals:
        def __len__(self) -> int:
            return 30

        def __getitem__(self, i: int) -> tuple[np.ndarray, int]:
            if i == 4:
                raise ValueError("no such signal")
            signal = np.arange(5 if i == 2 else 6, dtype=np.float32)
            return (signal * np.nan if i == 8 else signal), i % 2

    found = {d.name: d for d in torchmedic.check_data(Signals()).diagnoses}
    assert "sample 4: ValueError: no such signal" in found["unreadable-file"].evidence[0]
    assert found["ragged-lengths"].culprit.examples == ("row 2: shape [5]",)
    assert found["non-finite-values"].culprit.examples[0] == "row 8: [0][8, 0] = nan"


@pytest.mark.parametrize("workers", [0, 2])
def test_a_sample_of_a_shuffled_loader_has_its_number_in_the_data(workers: int) -> None:
    signals = torch.randn(300, 8)
    signals[211, 3] = torch.nan
    data = torch.utils.data.TensorDataset(signals, torch.arange(300) % 3)
    loader = torch.utils.data.DataLoader(data, batch_size=32, shuffle=True, num_workers=workers)
    before = loader.batch_sampler
    found = torchmedic.check_data(loader, samples=None).diagnoses
    assert [d.culprit.examples for d in found if d.code == "DAT100"] == [("row 211: [0][211, 3] = nan",)]
    assert loader.batch_sampler is before


def test_a_saved_list_of_samples_is_looked_at_field_by_field(tmp_path: Path) -> None:
    samples = [(torch.arange(12.0).reshape(3, 4) + i, i % 3 + 1) for i in range(40)]
    samples[21] = (torch.zeros(3, 4), 1)
    torch.save({"train": samples}, tmp_path / "samples.pt")
    found = {d.name: d for d in torchmedic.check_data(tmp_path / "samples.pt").diagnoses}
    assert "items 21" in found["single-value-images"].evidence[0]
    assert found["labels-not-from-zero"].culprit.field == "train[1]"


def test_what_check_data_gives_back_is_printed_as_the_report() -> None:
    assert "error[DAT100]: `tensor` holds 1 NaN" in str(torchmedic.check_data(np.array([1.0, np.nan])))
    assert str(torchmedic.check_data(np.array([1.0, 2.0]))) == "no trouble found"


def test_the_assertion_for_pytest_tells_what_it_found() -> None:
    torchmedic.assert_clean_data(np.ones((3, 2), dtype=np.float32))
    with pytest.raises(DirtyDataError, match="DAT100"):
        torchmedic.assert_clean_data(np.array([1.0, np.nan]))
    torchmedic.assert_clean_data(np.array([1.0, np.nan]), allow=["non-finite-values"])


def test_an_interruption_gives_what_is_known(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n" + "".join(f"{i},{i * 7 % 11}\n" for i in range(100)) + "1,inf\n")
    # A second source that never ends: the check-up waits for it until it is interrupted.
    os.mkfifo(tmp_path / "b.csv")
    command_line = [sys.executable, "-m", "torchmedic", "data", "a.csv", "b.csv", "--json", "out.json"]
    process = subprocess.Popen(command_line, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with open(tmp_path / "b.csv", "w") as pipe:  # opened when the other end is: the second source is under way
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        pipe.close()
        out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert "error[DAT100]" in out
    verdict = json.loads((tmp_path / "out.json").read_text())
    assert (verdict["data"]["interrupted"], verdict["run"]["interrupted"]) == (True, True)
    # What was not seen to its end is not taken for healthy.
    assert [(source["source"], source["complete"]) for source in verdict["data"]["sources"]] == [
        ("a.csv", True),
        ("b.csv", False),
    ]
    assert "not looked at to its end" in out


def test_an_interruption_at_the_very_beginning_is_no_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    monkeypatch.setattr("torchmedic.checkups.data.check.check_paths", interrupted)
    assert CliRunner().invoke(main, ["data", str(tmp_path / "a.csv")]).exit_code == 130


def test_every_finding_about_a_file_is_told_not_the_first(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = 600
    split = rng.choice(["train", "test", "val"], rows)
    values = rng.lognormal(1, 0.2, (rows, 2)) * np.where(rng.random((rows, 2)) < 0.3, 1000, 1)
    frame = pd.DataFrame({"mass": values[:, 0], "dose": values[:, 1], "patient": rng.integers(0, 40, rows)})
    frame.assign(split=split).to_parquet(tmp_path / "t.parquet", index=False)
    text = " ".join(_run(tmp_path / "t.parquet").output.split())
    assert "`mass` is in two units, a factor of 1000 apart" in text
    assert "likewise: `dose` is in two units, a factor of 1000 apart" in text
    assert "40 of 40 `patient` of `test` are in `train` too" in text
    assert "likewise: 40 of 40 `patient` of `val` are in `train` too" in text


def test_what_a_cell_says_to_terminals_is_shown_not_done(tmp_path: Path) -> None:
    rows = "".join(f"{i},{i * 7 % 11}.5\n" for i in range(9999))
    (tmp_path / "t.csv").write_text("a,b\n" + rows + "7,\x1b[31mred\x00\n")
    output = _run(tmp_path / "t.csv").output
    assert "t.csv:10001" in output
    assert "␛[31mred␀" in output
    assert not {"\x1b", "\x00"} & set(output)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["table.csv", "--group-by", ""], "--group-by: no column is named"),
        (["table.csv", "--memory-limit", "0"], "no amount of memory: 0"),
        (
            ["table.csv", "--split", "level"],
            "--split level: none of its values says what is trained on",
        ),
        (["table.csv", "--time", "colour"], "--time colour: its values are no times"),
        (["x.npy", "--label", "y"], "--label is about columns of a table, and there is none"),
    ],
)
def test_options_that_could_do_nothing_are_refused(
    given: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("table.csv").write_text("colour,level\n" + "red,0\nblue,1\n" * 30)
    np.save("x.npy", np.ones((4, 2)))
    answer = CliRunner().invoke(command, given)
    assert answer.exit_code == 2
    assert said in answer.output


def test_one_table_of_a_database_and_a_column_of_another(tmp_path: Path) -> None:
    path = tmp_path / "ward.duckdb"
    with duckdb.connect(str(path)) as database:
        database.execute("CREATE TABLE a_visits AS SELECT range AS visit, range % 7 AS level FROM range(40)")
        database.execute("CREATE TABLE patients AS SELECT range AS patient, range % 2 AS sex FROM range(40)")
    both = CliRunner().invoke(command, [str(path), "--label", "sex"])
    assert "no column" not in both.output
    assert f"{path}:patients" in both.output
    one = CliRunner().invoke(command, [f"{path}:patients"])
    assert "a_visits" not in one.output
    none = CliRunner().invoke(command, [f"{path}:visits"])
    assert none.exit_code == 2
    assert "no such table; there are a_visits, patients" in none.output
