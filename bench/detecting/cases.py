"""The cases of a folder, and what an answer to one of them is worth."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

# Which families of codes fit which family of causes; a tool that has no codes is asked for the names only.
FITTING = {
    "data": "DAT NUM LOS",
    "nonfinite-forward": "NUM DAT",
    "nonfinite-backward": "NUM",
    "amp": "NUM TRN WIR",
    "exploding": "NUM TRN DAT",
    "lr": "TRN NUM DAT",
    "dtype": "ERR NUM DAT WIR TRN",
    "zero-grad": "WIR TRN",
    "not-in-optimizer": "WIR",
    "unregistered": "WIR",
    "broken-graph": "WIR ERR",
    "mode": "WIR TRN",
    "leakage": "DAT LOS",
    "wrong-loss": "LOS",
    "dead-activation": "TRN LOS WIR",
    "scheduler": "WIR TRN",
    "checkpoint": "WIR",
    "loader": "DAT ERR WIR",
    "memory": "MEM",
    "shape": "ERR NUM DAT LOS WIR",
    "ddp": "WIR RNK",
    "inplace": "ERR WIR",
    "frozen": "WIR",
}


@dataclass(frozen=True)
class Case:
    """A folder with a `train.py`, and what is wrong with it: nothing, where the family is "healthy"."""

    name: str
    folder: Path
    family: str
    lines: frozenset[tuple[str, int]]
    names: tuple[str, ...]

    @property
    def is_healthy(self) -> bool:
        return self.family == "healthy"


@dataclass(frozen=True)
class Answer:
    """The first thing that a tool said: where it points, its words, the family of its code if it has one.

    `failure` says why the tool could not be asked at all.
    """

    file: str = ""
    line: int = 0
    words: str = ""
    family: str = ""
    failure: str = ""


@dataclass(frozen=True)
class Judged:
    """What an answer was worth; `said` are its first words."""

    case: str
    tool: str
    is_healthy: bool
    found: bool
    line: bool
    cause: bool
    exact: bool
    said: str
    failure: str


def cases_in(folder: Path, only: frozenset[str]) -> list[Case]:
    """The cases of a folder in the order of their names, or the chosen ones."""
    found = (read_case(truth) for truth in sorted(folder.glob("*/truth.json")))
    return [case for case in found if not only or case.name in only]


def read_case(truth: Path) -> Case:
    """A case from its `truth.json`: the guilty `file` and `line`, other accepted lines as `7` or `other.py:7`."""
    told = json.loads(truth.read_text(encoding="utf-8"))
    guilty = told["file"] or "train.py"
    lines = {(Path(guilty).name, int(told["line"] or 0))}
    for item in told.get("lines_ok") or ():
        file, _, line = str(item).rpartition(":")
        lines.add((Path(file or guilty).name, int(line)))
    return Case(truth.parent.name, truth.parent, told["family"], frozenset(lines), tuple(told.get("names") or ()))


def judge(case: Case, tool: str, answer: Answer) -> Judged:
    """Whether anything was said, at an accepted line, with the right cause."""
    found = bool(answer.words)
    line = found and (Path(answer.file).name, answer.line) in case.lines
    fits = not answer.family or answer.family in FITTING.get(case.family, "").split()
    cause = found and fits and any(name.lower() in answer.words.lower() for name in case.names)
    return Judged(
        case=case.name,
        tool=tool,
        is_healthy=case.is_healthy,
        found=found,
        line=line,
        cause=cause,
        exact=line and cause,
        said=" ".join(answer.words.split())[:200],
        failure=answer.failure,
    )
