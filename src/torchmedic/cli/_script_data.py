"""`torchmedic data --for SCRIPT`: runs the script once, silently, to see what it reads and by what it scales."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from torchmedic.cli._output import OneLineError
from torchmedic.facts import Crash, FileRead, Location, NormalisedBy, Run
from torchmedic.translation import said

# So many files of one kind from one folder stand for the folder: the rest is read in later steps.
_FOLDER = 8


class WithScript(click.Command):
    """Everything behind `--for SCRIPT` is the script's own."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--for" in args:
            behind = args.index("--for") + 2
            args, ctx.meta[__name__] = args[:behind], tuple(args[behind:])
        return super().parse_args(ctx, args)


def script_arguments() -> tuple[str, ...]:
    """The arguments of the script, as `WithScript` set them aside."""
    arguments: tuple[str, ...] = click.get_current_context().meta.get(__name__, ())
    return arguments


@dataclass(frozen=True)
class ScriptData:
    """Paths for the check-up, the line that reads each, and the keys by which the script scales."""

    paths: tuple[str, ...]
    read_at: dict[str, Location]
    normalised: tuple[NormalisedBy, ...]


def data_of(command: Sequence[str]) -> ScriptData:
    """Run a script until its training begins, and tell which data it was seen to read."""
    from torchmedic.cli.run import check_command

    check_command(tuple(command))
    run, status = _listened_to(command)
    files = [seen for seen in run.all(FileRead) if os.path.exists(seen.path) or "*" in seen.path]
    files = [seen for seen in files if not seen.path.endswith((".pkl", ".pickle", ".joblib"))]
    name = " ".join(command[: 2 if command[0] == "-m" else 1])
    if not files:
        raise OneLineError(_nothing_read(name, status, run.last(Crash)))
    if status:
        click.echo(
            said(f"torchmedic: {name} {_end(status, run.last(Crash))}; what it read before is checked"), err=True
        )
    places = {_shown(seen.path): seen.where for seen in files if seen.where is not None}
    return ScriptData(tuple(_targets(list(places))), places, tuple(run.all(NormalisedBy)))


def _listened_to(command: Sequence[str]) -> tuple[Run, int]:
    from torchmedic.launch.parent import run_script
    from torchmedic.settings import Settings
    from torchmedic.store import RunFileError, load

    with tempfile.TemporaryDirectory(prefix="torchmedic-") as folder:
        settings = Settings(run_folder=folder, parent=os.getpid(), purpose="reading")
        status = run_script(command, Path(folder), settings, silent=True)
        try:
            return load(Path(folder)), status
        except RunFileError as error:
            raise OneLineError(str(error)) from None


def _nothing_read(name: str, status: int, crash: Crash | None) -> str:
    if status:
        return f"{name} {_end(status, crash)} before it read a data file"
    return f"{name} read no data file that can be checked"


def _end(status: int, crash: Crash | None) -> str:
    if crash is None:
        return f"ended with exit code {status}"
    first = crash.message.strip().partition("\n")[0]
    return f"died of {crash.exception}: {first[:120]}" if first else f"died of {crash.exception}"


def _shown(path: str) -> str:
    """As the user would type it: relative where it lies below the working directory."""
    here = os.path.join(os.path.realpath(os.getcwd()), "")
    whole = os.path.realpath(path) if os.path.exists(path) else path
    return os.path.relpath(whole, here) if whole.startswith(here) else path


def _targets(paths: list[str]) -> list[str]:
    """The paths; where a folder gave many files of one kind, all files of that kind in it."""
    kinds = Counter((os.path.dirname(path), os.path.splitext(path)[1]) for path in paths)
    targets = []
    for path in paths:
        folder, suffix = os.path.dirname(path), os.path.splitext(path)[1]
        targets.append(os.path.join(folder, f"*{suffix}") if kinds[folder, suffix] >= _FOLDER else path)
    return list(dict.fromkeys(targets))
