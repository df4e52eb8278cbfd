"""What the commands share: consoles, one-line errors, writing results without losing anything."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

# Drawing and reading of runs are imported where they are used: `rules` and `explain CODE` need neither.
if TYPE_CHECKING:
    from rich.console import Console

    from torchmedic.facts import Run
    from torchmedic.findings import Verdict

USAGE_ERROR = 2
_NEVER_RESULTS = frozenset(
    (".py", ".ipynb", ".db", ".pt", ".pth", ".ckpt", ".safetensors", ".yaml", ".yml", ".toml", ".sh")
)


class OneLineError(click.ClickException):
    """Bad input: one clear line on standard error, exit 2."""

    exit_code = USAGE_ERROR

    def show(self, file: object = None) -> None:
        from torchmedic.translation import said

        click.echo(said(f"torchmedic: {self.format_message()}"), err=True)


def console(*, error_stream: bool) -> Console:
    """A console on one of the two streams; what its encoding cannot say is escaped."""
    from torchmedic.render.terminal import terminal

    stream = sys.stderr if error_stream else sys.stdout
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")
    return terminal(stream)


def load_run(path: Path) -> Run:
    from torchmedic.ranks.merging import load_whole
    from torchmedic.store import RunFileError

    try:
        return load_whole(path)
    except RunFileError as error:
        raise OneLineError(str(error)) from None


def write_text(path: Path, text: str) -> None:
    """Write a result file whole or not at all; through a link to its target, into a pipe or a device as it is."""
    _spare_the_users(path)
    path = path.resolve()
    try:
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8")
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        raise OneLineError(f"cannot write {path}: {error.strerror or error}") from None


def _spare_the_users(path: Path) -> None:
    """A script, a run or weights under the name of an output is a slip of the keyboard."""
    if path.suffix.lower() in _NEVER_RESULTS and path.is_file():
        raise OneLineError(f"cannot write {path}: the file that is there is no result of torchmedic's")


def check_writable(path: Path | None) -> None:
    """Refuse an impossible output path before the run, not after it."""
    if path is None:
        return
    if path.is_dir():
        raise OneLineError(f"cannot write {path}: it is a directory")
    _spare_the_users(path)
    parent = next((p for p in path.absolute().parents if p.exists()), None)
    if parent is None or not os.access(parent, os.W_OK):
        raise OneLineError(f"cannot write {path}: the folder is not writable")


def check_apart(*paths: Path | None) -> None:
    """Refuse two results under one name, of which only one would be left; `-` is standard output."""
    given = [path.resolve() for path in paths if path is not None and str(path) != "-"]
    twice = next((path for path in given if given.count(path) > 1), None)
    if twice is not None:
        raise OneLineError(f"cannot write {twice}: two results are to be written there")


def exit_code(verdict: Verdict, fail_on: str | None) -> int:
    """1 when a diagnosis is at least as severe as asked."""
    levels = {"error": ("error",), "warning": ("error", "warning")}.get(fail_on or "", ())
    return 1 if any(d.severity in levels for d in verdict.diagnoses) else 0
