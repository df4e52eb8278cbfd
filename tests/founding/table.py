"""Reads `docs/founding-cases.md`: the table is what is tested, so that it cannot promise what is not there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "founding-cases.md"
CASES = [*(f"A{n}" for n in range(1, 6)), *(f"B{n}" for n in range(1, 7)), "B1b", *(f"C{n}" for n in range(1, 11))]
CASES += [*(f"D{n}" for n in range(1, 7)), *(f"E{n}" for n in range(1, 6))]
_FOLDER = re.compile(r"^## [A-E]\..*\(`examples/(?P<folder>\w+)`\)")
_CODE_SPAN = re.compile(r"^`(?P<text>.*)`$")


@dataclass(frozen=True)
class Row:
    """One promise: in `folder`, `command` is answered with `answer` at `line`, in these `words`, in this order."""

    case: str
    folder: Path
    command: str
    answer: str
    line: str
    words: tuple[str, ...]

    @property
    def is_healthy(self) -> bool:
        return self.answer == "silence"


def rows(text: str) -> list[Row]:
    """Every row of every table under a heading that names a folder of examples."""
    found: list[Row] = []
    folder: Path | None = None
    for text_line in text.splitlines():
        if text_line.startswith("## "):
            heading = _FOLDER.match(text_line)
            folder = ROOT / "examples" / heading["folder"] if heading else None
        cells = [cell.strip() for cell in text_line.strip().strip("|").split(" | ")]
        if folder is not None and len(cells) == 6 and re.fullmatch(r"[A-E]\d+b?", cells[0]):
            case, _, command, answer, line, words = cells
            found.append(
                Row(
                    case=case,
                    folder=folder,
                    command=_plain(command),
                    answer=answer.split()[0],
                    line="" if line == "-" else _plain(line),
                    words=tuple(word.strip() for word in words.split(" · ") if word not in ("", "-")),
                )
            )
    return found


def _plain(cell: str) -> str:
    span = _CODE_SPAN.match(cell)
    return span["text"] if span else cell
