"""Every founding case is met by a program of its own and answered as `docs/founding-cases.md` says."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.founding.table import CASES, PAGE, Row, rows
from tests.running import rendered, run_watched

TABLE = rows(PAGE.read_text(encoding="utf-8"))
_WIDE = 400
SECONDS = 900
LEFT_BEHIND = shutil.ignore_patterns("__pycache__", ".torchmedic", "data")


def _name(row: Row) -> str:
    return f"{row.case} {row.command}"


def answer_to(row: Row, scratch: Path) -> str:
    """What torchmedic says to the command of a row, as its user would read it."""
    words = shlex.split(row.command)
    if words[:2] == ["torchmedic", "run"] and words[2].endswith(".py") and "&&" not in words:
        watched = run_watched(row.folder / words[2], *words[3:], timeout=SECONDS)
        return rendered(watched.verdict, width=_WIDE)
    return typed_in_a_shell(row.command, row.folder, scratch)


def typed_in_a_shell(command: str, folder: Path, scratch: Path) -> str:
    """The output of a command line in a copy of an example's folder."""
    work = scratch / folder.name
    shutil.copytree(folder, work, ignore=LEFT_BEHIND)
    environment = dict(os.environ, COLUMNS=str(_WIDE), NO_COLOR="1", TERM="dumb")
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=work,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
    )
    return done.stdout


def faults(row: Row, text: str) -> list[str]:
    """What a text lacks of what a row promises."""
    loud = re.findall(r"^(?:error|warning|hint)\[(\w+)\]", text, re.MULTILINE)
    if row.is_healthy:
        # Hints may be about the machine: a slow disk makes a slow start.
        spoken = re.findall(r"^(?:error|warning)\[(\w+)\]|^(not explained)", text, re.MULTILINE)
        return [f"not silent: {spoken}"] if spoken else []
    found = []
    if not row.answer.startswith("-") and loud[:1] != [row.answer]:
        found.append(f"answered by {loud or 'silence'}")
    if row.line and row.line not in _first_window(text):
        found.append(f"points at {_first_window(text)!r}")
    rest = " ".join(text.split())
    for word in row.words:
        _, met, rest = rest.partition(" ".join(word.split()))
        if not met:
            found.append(f"does not say {word!r} (in this order)")
            break
    return found


def _first_window(text: str) -> str:
    """The source line that the first diagnosis points at."""
    window = re.search(r"^ *--> .*\n *\|\n *\d+ \| (?P<source>.*)$", text, re.MULTILINE)
    return window["source"].strip() if window else ""


@pytest.mark.parametrize("row", TABLE, ids=_name)
def test_case_is_answered_as_stated(row: Row, tmp_path: Path) -> None:
    text = answer_to(row, tmp_path)
    assert faults(row, text) == [], text


def test_every_founding_case_has_a_row() -> None:
    assert sorted({row.case for row in TABLE}) == sorted(CASES)


@pytest.mark.parametrize("row", TABLE, ids=_name)
def test_a_row_promises_something(row: Row) -> None:
    assert row.answer != "-" or row.words, f"{row.case}: nothing is asserted"


def test_a_broken_promise_is_noticed() -> None:
    row = Row("E1", Path("."), "torchmedic run a.py", "NUM002", "y = torch.log(x)", ("`x`", "ruled out"))
    said = "error[NUM002]: `log` of 0: `x`\n --> a.py:3\n  |\n3 | y = torch.log(x)\n  = ruled out: nothing\n"
    assert faults(row, said) == []
    assert faults(row, said.replace("NUM002", "NUM003"))
    assert faults(row, said.replace("torch.log(x)", "z"))
    assert faults(row, said.replace("ruled out", "note"))
    assert faults(row, "torchmedic: healthy, 3 optimizer steps watched")
    assert faults(Row("E1", Path("."), "", "silence", "", ()), said)


def test_the_demo_runs_a_case_and_its_cure() -> None:
    told = subprocess.run(
        ["make", "-n", "demo"], cwd=PAGE.parents[1], capture_output=True, text=True, check=True
    ).stdout
    played = re.findall(r"^cd examples/lab_recommender/ && \S*/(torchmedic run) --fail-on error ([^;\n]*)", told, re.M)
    (case,) = [row for row in TABLE if row.command == " ".join(played[0])]
    (cure,) = [row for row in TABLE if row.command == " ".join(played[1])]
    assert (case.case, cure.case) == ("A4", "A4")
    assert not case.is_healthy
    assert cure.is_healthy
