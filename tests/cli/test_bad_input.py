"""Bad input gets one clear line on standard error and exit 2, and nothing is written over."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import click
import pytest

from tests.cli.typed import Typed, typed
from torchmedic.cli import main
from torchmedic.facts import Crash, MetricPoint, RunInfo
from torchmedic.store import RUN_FILE, append, create


def is_one_line(answer: Typed, *words: str) -> None:
    assert answer.status == 2
    assert answer.out == ""
    assert answer.err.startswith("torchmedic: ")
    assert answer.err.count("\n") == 1
    for word in words:
        assert word in answer.err


def a_run_file(folder: Path) -> Path:
    create(folder / RUN_FILE, RunInfo(argv=("train.py",), python="3.11.0"))
    append(folder / RUN_FILE, [Crash(exception="ValueError", message=f"m{i}" * 200) for i in range(50)])
    return folder / RUN_FILE


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize(
    ("name", "words"), [("train.ipynb", "%load_ext torchmedic"), ("log.txt", "torchmedic explain"), ("a.yaml", "not a")]
)
def test_only_a_script_is_run(tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / name).write_text('{"cells": []}\n')
    is_one_line(typed("run", str(tmp_path / name)), name, words)


def test_a_missing_run(tmp_path: Path) -> None:
    is_one_line(typed("report", str(tmp_path / "none.db")), "no such run file")


def test_an_empty_folder_is_no_run(tmp_path: Path) -> None:
    is_one_line(typed("report", str(tmp_path)), "no run file in this folder")


@pytest.mark.parametrize("data", [b"", b"hello", b"\x00\xff" * 5000, b"SQLite format 3\x00" + b"\x07" * 4000])
def test_a_foreign_file_is_no_run_and_stays_as_it_is(tmp_path: Path, data: bytes) -> None:
    foreign = tmp_path / "foreign.db"
    foreign.write_bytes(data)
    is_one_line(typed("report", str(foreign), "--json", str(tmp_path / "out.json")), "foreign.db")
    assert contents(tmp_path) == {str(foreign): data}


def test_a_foreign_database_is_no_run_and_stays_as_it_is(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign.db"
    with sqlite3.connect(foreign) as db:
        db.execute("CREATE TABLE info (body TEXT)")
    db.close()
    before = foreign.read_bytes()
    is_one_line(typed("report", str(foreign)), "not a torchmedic run file")
    assert foreign.read_bytes() == before


@pytest.mark.parametrize("name", ["train.py", RUN_FILE, "weights.pt", "notes.txt", "index.html", "settings.json"])
def test_a_file_of_the_users_is_never_written_over(tmp_path: Path, name: str) -> None:
    run = a_run_file(tmp_path)
    if name != RUN_FILE:
        (tmp_path / name).write_text("precious")
    before = contents(tmp_path)
    is_one_line(typed("report", str(run), "--html", str(tmp_path / name)), name, "no result of torchmedic's")
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    ("option", "ending"), [("--html", "html"), ("--json", "json"), ("--sarif", "sarif"), ("--out", "PNG")]
)
def test_a_result_of_ours_is_written_anew_and_keeps_its_permissions(tmp_path: Path, option: str, ending: str) -> None:
    run = a_run_file(tmp_path)
    append(run, [MetricPoint(step=k, epoch=k, name="val_loss", value=1 / k, source="log") for k in range(1, 9)])
    command, out = "curves" if option == "--out" else "report", tmp_path / f"out.{ending}"
    out.touch()  # as `mktemp` does
    for mode in (0o640, 0o600):
        out.chmod(mode)
        assert typed(command, str(run), option, str(out)).status == 0
        assert out.stat().st_size > 100
        assert out.stat().st_mode & 0o777 == mode
    assert sorted(path.name for path in tmp_path.iterdir() if "out" in path.name) == [out.name], "nothing is left over"
    out.write_text("precious")
    is_one_line(typed(command, str(run), option, str(out)), "no result of torchmedic's")
    assert out.read_text() == "precious"


@pytest.mark.parametrize("ending", ["svg", "pdf"])
def test_a_picture_is_drawn_anew(tmp_path: Path, ending: str) -> None:
    run = a_run_file(tmp_path)
    append(run, [MetricPoint(step=k, epoch=k, name="val_loss", value=1 / k, source="log") for k in range(1, 9)])
    for _ in range(2):
        assert typed("curves", str(run), "--out", str(tmp_path / f"out.{ending}")).status == 0


@pytest.mark.parametrize("name", ["bad.csv", "bad.parquet"])
def test_a_list_of_rows_is_written_anew_and_data_is_not_written_over(tmp_path: Path, name: str) -> None:
    data = tmp_path / "data.csv"
    data.write_text("a,b\n" + "".join(f"{k},{'' if k == 7 else k}\n" for k in range(40)))
    out = tmp_path / name
    for mode in (0o644, 0o600):
        assert typed("data", str(data), "--rows", str(out)).status == 1
        out.chmod(mode)
    assert typed("data", str(data), "--rows", str(out)).status == 1
    assert out.stat().st_mode & 0o777 == 0o600
    before = contents(tmp_path)
    is_one_line(typed("data", str(data), "--rows", str(data)), "no result of torchmedic's")
    assert contents(tmp_path) == before


@pytest.mark.parametrize("command", main.list_commands(click.Context(main)))
def test_what_cannot_be_understood_is_told_in_one_line(command: str) -> None:
    # `run` and `memory` leave options behind the script to it, and what stands before it is theirs.
    is_one_line(typed(command, "--no-such-option"), "--no-such-option")
    is_one_line(typed(command, "--lang"), "--lang", f"`torchmedic {command} --help`")
    is_one_line(typed(command, "--lang", "klingon"), "klingon", f"`torchmedic {command} --help`")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["where"], "missing argument 'PID'"),
        (["explain", "a", "b"], "got unexpected extra argument (b)"),
        (["where", "here"], "'here' is not a valid process number"),
        (["run", "--stuck-after", "nan", "train.py"], "'nan' is not a valid number of seconds"),
        (["run", "--first-step-after", "inf", "train.py"], "'inf' is not a valid number of seconds"),
        (["no-such-command"], "no such command 'no-such-command'"),
        (["--no-such-option"], "no such option '--no-such-option'"),
    ],
)
def test_wrong_words_are_told_in_one_line_with_a_way_on(words: list[str], told: str) -> None:
    is_one_line(typed(*words), told, "--help`")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["torchrun", "--nproc-per-node", "2", "nosuch.py"], "nosuch.py: no such script"),
        (["accelerate", "launch", "nosuch.py"], "nosuch.py: no such script"),
        (["torchrun"], "torch.distributed.run: a launcher needs a script"),
        (["-m", "nosuch.module"], "nosuch.module: no such module"),
        (["python", "train.py"], "python: no such script; leave it out"),
    ],
)
def test_what_cannot_be_run_is_told_before_anything_is_started(words: list[str], told: str) -> None:
    is_one_line(typed("run", *words), told)


def test_two_results_under_one_name_are_refused(tmp_path: Path) -> None:
    run = a_run_file(tmp_path)
    out = str(tmp_path / "out")
    is_one_line(typed("report", str(run), "--json", out, "--html", out), "two results are to be written there")
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_no_run_is_not_shown_live(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    is_one_line(typed("live", str(tmp_path / "notes.txt")), "not a torchmedic run file")


def test_a_result_goes_through_a_link_and_leaves_it(tmp_path: Path) -> None:
    run = a_run_file(tmp_path)
    (tmp_path / "target.json").write_text('{"schema": 1, "tool": "torchmedic"}')
    (tmp_path / "link.json").symlink_to(tmp_path / "target.json")
    assert typed("report", str(run), "--json", str(tmp_path / "link.json")).status == 0
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "target.json").read_text().startswith("{")


@pytest.mark.parametrize("kept", [100, 4096, 9000])
def test_a_truncated_run(tmp_path: Path, kept: int) -> None:
    run = a_run_file(tmp_path)
    cut = tmp_path / "cut.db"
    cut.write_bytes(run.read_bytes()[:kept])
    is_one_line(typed("report", str(cut), "--json", str(tmp_path / "out.json")), "cut.db")
    assert not (tmp_path / "out.json").exists()
    assert cut.stat().st_size == kept


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_run(tmp_path: Path) -> None:
    run = a_run_file(tmp_path)
    run.chmod(0)
    is_one_line(typed("report", str(run)), RUN_FILE)


def test_an_output_that_cannot_be_written_is_said_before_any_work(tmp_path: Path) -> None:
    run = a_run_file(tmp_path)
    is_one_line(typed("report", str(run), "--json", str(tmp_path)), "it is a directory")


@pytest.mark.parametrize("option", ["--json", "--html", "--sarif"])
@pytest.mark.parametrize(("out", "told"), [("notes.txt/out", "Not a directory"), ("/proc/out", "")])
def test_a_run_is_not_begun_whose_result_cannot_be_written(tmp_path: Path, option: str, out: str, told: str) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "train.py").write_text("open(__file__ + '.ran', 'w')")
    before = contents(tmp_path)
    words = ("run", option, str(tmp_path / out), str(tmp_path / "train.py"))
    is_one_line(typed(*words), "cannot write", told)
    assert contents(tmp_path) == before


def test_the_verdict_is_told_where_its_file_cannot_be_written_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "train.py"
    place = tmp_path / "out"
    lost = f"import os\nos.rmdir({str(place)!r})\nopen({str(place)!r}, 'w').close()\n"
    script.write_text(f"{lost}rates = {{'slow': 1}}\nprint(rates['slwo'])\n")
    for option in ("--json", "--html"):
        place.unlink(missing_ok=True)
        place.mkdir()
        answer = typed("run", option, str(tmp_path / "out" / "result"), str(script))
        assert "cannot write" in answer.err
        assert "ERR040" in answer.err
        assert answer.status == 1


def test_standard_output_takes_one_result_and_belongs_to_the_script_in_a_run(tmp_path: Path) -> None:
    run = a_run_file(tmp_path)
    is_one_line(typed("report", str(run), "--html", "-", "--json", "-"), "only one result")
    (tmp_path / "train.py").write_text("")
    is_one_line(typed("run", "--json", "-", str(tmp_path / "train.py")), "the script's own")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b" \n\n", "empty"),
        (bytes(range(256)) * 40, "binary"),
        (b"\x7fELF\x02\x01\x01" + b"\0" * 64, "binary"),
        (b"all went well\nepoch 3 loss 0.2\n", "no traceback"),
        (b'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n' * 80_000, "too large"),
    ],
)
def test_a_file_that_is_no_traceback(tmp_path: Path, data: bytes, words: str) -> None:
    pasted = tmp_path / "pasted.txt"
    pasted.write_bytes(data)
    is_one_line(typed("explain", str(pasted), "--json", str(tmp_path / "out.json")), words)
    is_one_line(typed("explain", "-", stdin=data), words, "standard input")
    assert contents(tmp_path) == {str(pasted): data}


def test_ten_megabytes_are_refused(tmp_path: Path) -> None:
    pasted = tmp_path / "log.txt"
    pasted.write_bytes(b"ValueError: x\n" * (10 * 1024 * 1024 // 14))
    is_one_line(typed("explain", str(pasted)), "too large", "tail -n")


def test_a_folder_is_no_traceback(tmp_path: Path) -> None:
    is_one_line(typed("explain", str(tmp_path)), "a directory")


def test_neither_a_rule_nor_a_file() -> None:
    is_one_line(typed("explain", "nowhere.txt"), "no such rule and no such file")


def test_a_folder_whose_only_rank_cannot_be_read_is_no_run(tmp_path: Path) -> None:
    (tmp_path / "rank0").mkdir()
    (tmp_path / "rank0" / "rank0.db").write_text("junk")
    is_one_line(typed("report", str(tmp_path)), "rank0.db", "not a readable run file")
