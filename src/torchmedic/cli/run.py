"""`torchmedic run`: run a script as it is, and say what went wrong."""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from torchmedic.cli._numbers import Seconds
from torchmedic.cli._output import (
    USAGE_ERROR,
    OneLineError,
    check_apart,
    check_writable,
    console,
    exit_code,
    load_run,
    write_text,
)
from torchmedic.settings import OnSick, OnStuck, Settings
from torchmedic.translation import said

if TYPE_CHECKING:
    from torchmedic.findings import Verdict
    from torchmedic.launch.launchers import Place

_OTHER_ENDINGS = (".csv", ".html", ".json", ".md", ".sh", ".toml", ".yaml", ".yml")
_RANKS_AGAIN_SECONDS = 120.0
_BEFORE_THE_LAUNCHER_KILLS_US = 24.0  # torchrun waits half a minute for ranks that it has asked to end


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the verdict as JSON (schema 1).")
@click.option("--sarif", "sarif_path", type=click.Path(path_type=Path), help="Write the verdict as SARIF 2.1.0.")
@click.option(
    "--html",
    "html_path",
    type=click.Path(path_type=Path),
    help="Write the report here instead of into the run folder.",
)
@click.option(
    "--on-sick",
    type=click.Choice(["stop", "skip", "continue"]),
    default="stop",
    show_default=True,
    help="What to do at a step with non-finite numbers.",
)
@click.option(
    "--on-stuck",
    type=click.Choice(["report", "stop"]),
    default="report",
    show_default=True,
    help="What to do with a run that stands still, after saying where.",
)
@click.option(
    "--stuck-after",
    type=Seconds(min=0.5),
    default=15.0,
    show_default=True,
    metavar="SECONDS",
    help="How long nothing may move (and ten times the slowest of the last steps).",
)
@click.option(
    "--first-step-after",
    type=Seconds(min=0.5),
    default=300.0,
    show_default=True,
    metavar="SECONDS",
    help="The same before the first steps are made.",
)
@click.option("--fail-on", type=click.Choice(["error", "warning"]), help="Exit 1 when such a diagnosis is made.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing about a healthy run.")
@click.argument(
    "command", nargs=-1, type=click.UNPROCESSED, required=True, metavar="SCRIPT [ARGS]... | -m MODULE [ARGS]..."
)
def command(
    json_path: Path | None,
    sarif_path: Path | None,
    html_path: Path | None,
    on_sick: OnSick,
    on_stuck: OnStuck,
    stuck_after: float,
    first_step_after: float,
    fail_on: str | None,
    quiet: bool,
    command: tuple[str, ...],
) -> None:
    """Run a training script that was not changed, and name the cause when it goes wrong.

    Standard output is the script's own; torchmedic speaks on standard error. The exit code is the script's, or 1
    where a step with non-finite numbers stopped the run (see --on-sick).
    """
    from torchmedic.launch.launchers import as_module, place_in
    from torchmedic.launch.parent import script_of

    command = as_module(command)
    check_command(command)
    _check_results(json_path, sarif_path, html_path)
    place = place_in(os.environ, script_of(command))
    wishes = {"on_stuck": on_stuck, "stuck_after": stuck_after, "first_step_after": first_step_after}
    status, folder, settings = _run_watched(command, place, on_sick=on_sick, **wishes)
    if place is not None and not _speaks_for_all(folder, place):
        raise SystemExit(status)
    with _status_kept(status):
        _look_again(command, folder, settings, place)
        verdict = _verdict(folder)
        failed = _write(verdict, json_path, sarif_path)
        report = _write_report(folder, verdict, html_path)
        failed |= html_path is not None and not report
        if verdict.diagnoses or verdict.unexplained or not quiet:
            from torchmedic.render.text import draw, draw_interventions

            screen = console(error_stream=True)
            draw(verdict, screen, report=report)
            draw_interventions(verdict, screen)
    gc.freeze()  # the interpreter's last collection would look at all that we have imported
    raise SystemExit(status or (USAGE_ERROR if failed else exit_code(verdict, fail_on)))


def _check_results(*paths: Path | None) -> None:
    """Refuse what cannot be written before the run, not after it."""
    if Path("-") in paths:
        raise OneLineError("standard output is the script's own: name a file for the result")
    check_apart(*paths)
    for path in paths:
        check_writable(path)


def _run_watched(command: tuple[str, ...], place: Place | None, **wishes: Any) -> tuple[int, Path, Settings]:
    """Run the command to its end; its status, the run folder, and what the watched process was told."""
    from torchmedic.cli._attendant import Attendant
    from torchmedic.launch.launchers import is_launcher
    from torchmedic.launch.parent import new_run_folder, run_script, run_unwatched, shared_run_folder
    from torchmedic.launch.refused import LIMITED, is_refusal, start_again

    try:
        folder = new_run_folder(command) if place is None else shared_run_folder(place.name)
    except OSError as error:
        click.echo(said(f"torchmedic: no place for a run file ({error}); the script runs unwatched"), err=True)
        raise SystemExit(run_unwatched(command)) from None
    settings = Settings(
        run_folder=str(folder),
        parent=os.getpid(),
        break_probe=os.environ.get("TORCHMEDIC_BREAK_PROBE", ""),
        launcher=is_launcher(command),
        **wishes,
    )
    if place is not None:
        settings = _as_rank(settings, place)
        _outlive_the_launcher()
    attendant = Attendant(folder, settings.on_stuck)

    def start() -> int:
        return run_script(command, Path(settings.run_folder), settings, meanwhile=_get_ready, attend=attendant)

    status = start()
    attendant.clear_up()
    if place is None and not settings.launcher and is_refusal(status):
        click.echo(said(f"torchmedic: the processor refused an instruction; starting again, {LIMITED}"), err=True)
        status = start_again(folder, settings.run_file, start)
    return (1 if attendant.stopped else status), folder, settings


def _as_rank(settings: Settings, place: Place) -> Settings:
    """One of several ranks, each under its own `torchmedic run`: a folder of its own below the shared one."""
    from torchmedic.ranks.folders import rank_folder, run_file_of

    return replace(
        settings,
        shared_folder=settings.run_folder,
        run_folder=str(rank_folder(Path(settings.run_folder), place.rank)),
        run_file=run_file_of(place.rank),
        rank=place.rank,
    )


def _outlive_the_launcher() -> None:
    """A launcher ends the other ranks when one has failed: the script is told, and the report must still be given.

    By a handler, which the script does not inherit as it would a signal that is ignored.
    """
    import signal

    if signal.getsignal(signal.SIGTERM) is not signal.SIG_IGN:
        signal.signal(signal.SIGTERM, lambda *_: None)


def _speaks_for_all(folder: Path, place: Place) -> bool:
    """Whether this is the last rank of the first machine to finish: the others leave the word to it."""
    from torchmedic.ranks.folders import is_last

    return is_last(folder, place.rank, place.local_world) and place.is_first_machine


@contextlib.contextmanager
def _status_kept(status: int) -> Iterator[None]:
    """The script has run: no trouble of ours may hide how it ended."""
    try:
        yield
    except KeyboardInterrupt:
        raise SystemExit(status or 130) from None
    except OneLineError as error:
        error.show()
        raise SystemExit(status or error.exit_code) from None
    except Exception as error:  # noqa: BLE001
        click.echo(said(f"torchmedic: could not say what happened ({type(error).__name__}: {error})"), err=True)
        raise SystemExit(status or 1) from None


def _get_ready() -> None:
    """Import what the verdict needs while the script starts, not when its owner waits for the answer.

    What cannot be imported will fail again when the verdict is asked for, and be told there; the script runs on.
    """
    with contextlib.suppress(Exception):
        importlib.import_module("torchmedic.reporting")
        importlib.import_module("torchmedic.triage").catalogue()


def _look_again(command: tuple[str, ...], folder: Path, settings: Settings, place: Place | None) -> None:
    """Run the script a second time where only that can tell more; with several ranks all of them, or none."""
    from torchmedic.launch.launchers import launched_again
    from torchmedic.launch.retrace import look_again_at_ranks, look_again_if_needed
    from torchmedic.ranks.merging import rank_files

    if not rank_files(folder):
        look_again_if_needed(command, folder, settings)
    elif place is None:
        look_again_at_ranks(command, folder, settings, _RANKS_AGAIN_SECONDS)
    else:
        told = replace(settings, launcher=True)
        look_again_at_ranks(launched_again(command, place.world), folder, told, _BEFORE_THE_LAUNCHER_KILLS_US)


def _verdict(folder: Path) -> Verdict:
    from torchmedic.history import with_history
    from torchmedic.render.diffs import with_diffs
    from torchmedic.triage import examine

    return with_history(with_diffs(examine(load_run(folder))))


def _write(verdict: Verdict, json_path: Path | None, sarif_path: Path | None) -> bool:
    """Write what was asked for; true where that failed, which takes one line each: the verdict is still told."""
    forms = []
    if json_path is not None:
        from torchmedic.render.plain import to_json

        forms.append((json_path, to_json))
    if sarif_path is not None:
        from torchmedic.render.sarif import to_sarif

        forms.append((sarif_path, to_sarif))
    failed = False
    for path, form in forms:
        try:
            write_text(path, form(verdict))
        except OneLineError as error:
            failed = True
            error.show()
    return failed


def _write_report(folder: Path, verdict: Verdict, html_path: Path | None) -> str:
    """Write the report where there is something to show; returns its path as the reader will type it.

    If that fails, it takes one line, and the verdict is still told.
    """
    if html_path is None and not (verdict.diagnoses or verdict.unexplained or verdict.info.steps):
        return ""
    try:
        from torchmedic.reporting import REPORT_FILE, html_report

        path = html_path or folder / REPORT_FILE
        write_text(path, html_report(folder, load_run(folder), verdict))
    except OneLineError as error:
        error.show()
        return ""
    except Exception as error:  # noqa: BLE001
        click.echo(said(f"torchmedic: the report could not be written ({type(error).__name__}: {error})"), err=True)
        return ""
    return os.path.relpath(path) if path.absolute().is_relative_to(Path.cwd()) else str(path)


def check_command(command: tuple[str, ...]) -> None:
    """Refuse what Python could not run, in one line."""
    first = command[0]
    if first == "-m":
        if len(command) < 2:
            raise OneLineError("-m needs the name of a module")
        _check_module(command[1], command[2:])
        return
    if first.startswith("-"):
        raise OneLineError(f"unknown option {first} (options of torchmedic come before the script)")
    path = Path(first)
    if not first:
        raise OneLineError("run what? give a script, or -m and a module")
    if not path.exists():
        hint = "; leave it out, torchmedic starts Python itself" if path.name.startswith("python") else ""
        raise OneLineError(f"{first}: no such script{hint}")
    if path.is_dir():
        if not (path / "__main__.py").exists():
            raise OneLineError(f"{first}: a directory without __main__.py")
        return
    _check_ending(first, path.suffix.lower())
    try:
        head = path.read_bytes()[:4096]
    except OSError as error:
        raise OneLineError(f"{first}: cannot be read ({error.strerror})") from None
    if b"\0" in head and not head.startswith(b"PK"):
        raise OneLineError(f"{first}: not a Python script")


def _check_ending(name: str, ending: str) -> None:
    """Refuse a file of another kind: a notebook is a dictionary to Python, which runs it and does nothing."""
    if ending == ".ipynb":
        raise OneLineError(
            f"{name}: a notebook, not a script; in it `%load_ext torchmedic` helps, or make a script of it with "
            f"`jupyter nbconvert --to script {name}`"
        )
    if ending in (".txt", ".log"):
        raise OneLineError(
            f"{name}: not a Python script; `torchmedic explain {name}` tells what a traceback in it means"
        )
    if ending in _OTHER_ENDINGS:
        raise OneLineError(f"{name}: not a Python script")


def _check_module(name: str, arguments: tuple[str, ...]) -> None:
    """Refuse a module that is not there, and a launcher without a script."""
    from importlib.machinery import PathFinder

    from torchmedic.launch.launchers import is_launcher

    if PathFinder.find_spec(name.partition(".")[0], [os.getcwd(), *sys.path]) is None:
        raise OneLineError(f"{name}: no such module")
    if not is_launcher(("-m", name)):
        return
    script = next((word for word in arguments if word.endswith(".py")), None)
    if script is not None and not Path(script).exists():
        raise OneLineError(f"{script}: no such script")
    if not arguments:
        raise OneLineError(f"{name}: a launcher needs a script")
