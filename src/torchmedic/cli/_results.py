"""What the commands that answer on standard output share: JSON to a file or to the screen, wrapped text."""

from __future__ import annotations

import json
import os
import shutil
import textwrap
from pathlib import Path
from typing import Any

import click

from torchmedic._version import __version__
from torchmedic.cli._output import check_writable, write_text
from torchmedic.translation import chosen
from torchmedic.translation.typesetting import folded

STANDARD = Path("-")


def check_result_path(path: Path | None) -> None:
    """Refuse an impossible output path; `-` is standard output."""
    if path != STANDARD:
        check_writable(path)


def write_result(path: Path, text: str) -> None:
    """Write a result whole, to a file or, for `-`, to standard output."""
    if path == STANDARD:
        click.echo(text, nl=False)
    else:
        write_text(path, text)


def catalogue_json(**parts: Any) -> str:
    """A JSON answer about the catalogue, with the head that all our JSON has."""
    whole = {"schema": 1, "tool": "torchmedic", "version": __version__, **parts}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def width() -> int:
    """Columns to write in: the terminal's, within reason."""
    return max(40, min(shutil.get_terminal_size((int(os.environ.get("COLUMNS") or 100), 24)).columns, 120))


def hanging(head: str, text: str, indent: int) -> str:
    """`head`, then `text` from column `indent` on, wrapped below itself."""
    room = width()
    if len(head) >= indent or room - indent < 24:
        return f"{head}\n" + textwrap.fill(text, room, initial_indent="      ", subsequent_indent="      ")
    lead = head.ljust(indent)
    if chosen():
        return lead + ("\n" + " " * indent).join(folded(text, room - indent))
    return textwrap.fill(text, room, initial_indent=lead, subsequent_indent=" " * indent)
