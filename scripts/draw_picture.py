"""Draws a saved run's verdict as the picture of the README: `python scripts/draw_picture.py RUN docs/images/x.svg`."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI

from torchmedic.render.text import draw_diagnosis
from torchmedic.store import load
from torchmedic.triage import examine

WIDTH = 104
_FONT_FACES = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def picture(run_folder: Path, title: str) -> str:
    """The first diagnosis as SVG, in the fonts of the machine that shows it."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, highlight=False)
    draw_diagnosis(examine(load(run_folder)).diagnoses[0], console)
    svg = console.export_svg(title=title, theme=DIMMED_MONOKAI)
    return _FONT_FACES.sub("", svg).replace("Fira Code", "Menlo, Consolas, DejaVu Sans Mono")


def main() -> None:
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    out = Path(sys.argv[2])
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(picture(Path(sys.argv[1]), "torchmedic run train.py"))


if __name__ == "__main__":
    main()
