"""What the commands share: consoles, one-line errors, writing results without losing anything."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from torchmedic.cli._ours import is_ours

# Drawing and reading of runs are imported where they are used: `rules` and `explain CODE` need neither.
if TYPE_CHECKING:
    from rich.console import Console

    from torchmedic.facts import Run
    from torchmedic.findings import Verdict

USAGE_ERROR = 2


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


def newest_run() -> Path:
    """The run that was begun last in the working directory: folders are named by the time."""
    # Ranks have a folder each below that of their run.
    runs = [folder for folder in Path(".torchmedic").glob("*/") if any(folder.rglob("*.db"))]
    if not runs:
        raise OneLineError("there is no run below .torchmedic/ here; name a run file or its folder")
    return max(runs)


def write_text(path: Path, text: str) -> None:
    """Write a result file."""
    with placed(path) as place, failing_in_one_line(path):
        place.write_text(text, encoding="utf-8")


@contextlib.contextmanager
def placed(path: Path) -> Iterator[Path]:
    """Where to write a result, so that it is there whole or not at all.

    A link is followed, a file keeps its permissions, a pipe or a device is written as it is.
    """
    _spare_the_users(path)
    path = path.resolve()
    if path.exists() and not path.is_file():
        yield path
        return
    temporary = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    with failing_in_one_line(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            temporary.touch(mode=0o600)  # who may not read the result may not read it while it is written
    try:
        yield temporary
        with failing_in_one_line(path):
            if path.exists():
                shutil.copymode(path, temporary)
            if temporary.exists():
                temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def failing_in_one_line(path: Path) -> Iterator[None]:
    """What goes wrong while a result is written is told in one line."""
    try:
        yield
    except OSError as error:
        raise OneLineError(f"cannot write {path}: {error.strerror or error}") from None


def _spare_the_users(path: Path) -> None:
    """A script, notes or data under the name of an output is a slip of the keyboard."""
    if path.is_file() and not is_ours(path):
        raise OneLineError(f"cannot write {path}: the file that is there is no result of torchmedic's")


def check_writable(path: Path | None) -> None:
    """Refuse an impossible output path before the run, not after it."""
    if path is None:
        return
    if path.is_dir():
        raise OneLineError(f"cannot write {path}: it is a directory")
    _spare_the_users(path)
    with failing_in_one_line(path):
        place = path.resolve()
        if not place.exists() or place.is_file():
            # Only trying tells: root may write everywhere but in what is no real folder, such as /proc.
            folder = next(parent for parent in place.parents if parent.exists())
            trial = folder / f".{place.stem}.{os.getpid()}{place.suffix}"
            trial.touch()
            trial.unlink()


def check_apart(*paths: Path | None) -> None:
    """Refuse two results under one name, of which only one would be left; `-` is standard output."""
    if [str(path) for path in paths].count("-") > 1:
        raise OneLineError("only one result can be written to standard output")
    given = [path.resolve() for path in paths if path is not None and str(path) != "-"]
    twice = next((path for path in given if given.count(path) > 1), None)
    if twice is not None:
        raise OneLineError(f"cannot write {twice}: two results are to be written there")


def exit_code(verdict: Verdict, fail_on: str | None) -> int:
    """1 when a diagnosis is at least as severe as asked."""
    levels = {"error": ("error",), "warning": ("error", "warning")}.get(fail_on or "", ())
    return 1 if any(d.severity in levels for d in verdict.diagnoses) else 0
