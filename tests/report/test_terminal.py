"""The diagnosis in a terminal: within its width, counted in columns, plain where colours are unwelcome."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from tests.report.runs import a_healthy_run, a_sick_run
from torchmedic.facts import Location, RunInfo
from torchmedic.findings import Diagnosis, Remedy, RuledOut, Verdict
from torchmedic.render.text import draw, draw_diagnosis
from torchmedic.translation import in_language

CHINESE = Diagnosis(
    code="NUM002",
    name="log-of-zero",
    family="numerics",
    severity="error",
    confidence="proven",
    headline="`log` 的参数为零：`概率` 在第 213 步达到 0，损失因此变为无穷大，所有梯度随之变为 NaN，更新没有执行",
    where=Location(file="训练.py", line=41, source="    损失 = -torch.log(概率).mean()", function="步骤"),
    mark="torch.log(概率)",
    label="最小的参数是 0",
    evidence=("一共有 4096 个参数，其中 12 个恰好等于零，它们都来自同一个批次的第三列，" * 3,),
    ruled_out=(RuledOut(suspect="学习率", how="更新被暂停，单独重现这一步也会出现同样的问题"),),
    remedies=(Remedy(title="把参数限制在 1e-8 以上", diff="- torch.log(概率)\n+ torch.log(概率.clamp_min(1e-8))"),),
)


def drawn(diagnosis: Diagnosis, width: int) -> list[str]:
    out = io.StringIO()
    draw_diagnosis(diagnosis, Console(file=out, width=width, no_color=True, highlight=False, markup=False, emoji=False))
    return out.getvalue().splitlines()


@pytest.mark.parametrize("width", [40, 80, 200])
def test_every_line_fits_the_terminal(width: int) -> None:
    assert [line for line in drawn(CHINESE, width) if cell_len(line) > width] == []


def test_nothing_is_lost_or_added_between_chinese_lines() -> None:
    joined = "".join(line.strip() for line in drawn(CHINESE, 60))
    assert "".join(CHINESE.evidence[0].split()) in "".join(joined.split())


def test_carets_stand_below_what_they_mark() -> None:
    lines = drawn(CHINESE, 100)
    source = next(line for line in lines if line.startswith("41 |"))
    carets = lines[lines.index(source) + 1]
    assert cell_len(source[: source.index("torch.log")]) == carets.index("^")
    assert carets.count("^") == cell_len("torch.log(概率)")


@pytest.mark.parametrize("width", [40, 80])
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("source", ["    x = y / std", "    x = " + "y + " * 40 + "y / std"])
def test_a_long_label_stays_beside_the_gutter(width: int, language: str, source: str) -> None:
    label = "the standard deviation of this column is zero in every batch, so that each of its values becomes NaN"
    place = Location(file="a.py", line=1234, source=source)
    labelled = Diagnosis(**{**vars(CHINESE), "where": place, "mark": "y / std", "label": label})
    with in_language(language):
        lines = drawn(labelled, width)
    window = lines[lines.index("     |") + 2 : next(i for i, line in enumerate(lines) if line.startswith("     = "))]
    assert len(window) > 1
    assert [line for line in window if not line.startswith("     | ")] == []
    assert " ".join(line[7:].strip(" ^") for line in window).strip() == label


def test_carets_stand_right_below_tabs() -> None:
    place = Location(file="a.py", line=7, source="\tif x:\ty = torch.log(x)")
    tabbed = Diagnosis(**{**vars(CHINESE), "where": place, "mark": "torch.log(x)"})
    lines = drawn(tabbed, 100)
    source = next(line for line in lines if line.startswith("7 |"))
    assert source.index("torch.log(x)") == lines[lines.index(source) + 1].index("^")


def test_a_healthy_run_gets_one_line() -> None:
    out = io.StringIO()
    verdict = Verdict(outcome="healthy", info=RunInfo(steps=500, exit_code=0))
    draw(
        verdict,
        Console(file=out, width=80, no_color=True),
        report=".torchmedic/a-rather-long-name/" * 3 + "report.html",
    )
    assert out.getvalue().count("\n") == 1
    assert out.getvalue().startswith("torchmedic: healthy, 500 optimizer steps watched; report: ")


@pytest.mark.parametrize("status", [130, 143])
def test_an_interrupted_run_is_not_called_healthy(status: int) -> None:
    out = io.StringIO()
    info = RunInfo(steps=17, exit_code=status)
    draw(Verdict(outcome="healthy", info=info), Console(file=out, width=80, no_color=True))
    assert out.getvalue() == "torchmedic: interrupted after 17 optimizer steps, nothing found until then\n"


def in_a_terminal(run: Path, **variables: str) -> str:
    """What `torchmedic report` writes to a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    plain = {
        name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "CI", "FORCE_COLOR", "COLUMNS")
    }
    environment = {**plain, "TERM": "xterm-256color", "COLUMNS": "80", **variables}
    command = [sys.executable, "-m", "torchmedic", "report", str(run)]
    process = subprocess.Popen(command, stdout=theirs, stdin=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    heard = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        heard += part
    os.close(ours)
    assert process.wait(60) == 0
    return heard.decode()


def test_colours_are_for_terminals_that_want_them(tmp_path: Path) -> None:
    run = a_sick_run(tmp_path)
    assert "\x1b[" in in_a_terminal(run)
    assert "\x1b" not in in_a_terminal(run, NO_COLOR="1")
    assert "\x1b" not in in_a_terminal(run, CI="true")
    piped = subprocess.run(
        [sys.executable, "-m", "torchmedic", "report", str(run)], capture_output=True, text=True, check=True
    )
    assert "\x1b" not in piped.stdout
    assert "error[NUM002]" in piped.stdout


def test_a_terminal_of_another_language_is_no_obstacle(tmp_path: Path) -> None:
    run = a_healthy_run(tmp_path)
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "torchmedic", "report", str(run)]
    done = subprocess.run(command, capture_output=True, env=environment, check=True)
    assert done.stdout.startswith(b"torchmedic: healthy")
