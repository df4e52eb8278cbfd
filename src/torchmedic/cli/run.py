"""`torchmedic run`: run a script as it is, and say what went wrong."""

from __future__ import annotations

import os
from pathlib import Path

import click

from torchmedic.cli._output import OneLineError, check_writable, console, exit_code, load_run, write_text
from torchmedic.settings import OnSick, Settings


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the verdict as JSON (schema 1).")
@click.option("--sarif", "sarif_path", type=click.Path(path_type=Path), help="Write the verdict as SARIF 2.1.0.")
@click.option("--on-sick", type=click.Choice(["stop", "skip", "continue"]), default="stop", show_default=True,
              help="What to do at a step with non-finite numbers.")
@click.option("--fail-on", type=click.Choice(["error", "warning"]), help="Exit 1 when such a diagnosis is made.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing about a healthy run.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, required=True, metavar="SCRIPT [ARGS]... | -m MODULE [ARGS]...")
def command(
    json_path: Path | None,
    sarif_path: Path | None,
    on_sick: OnSick,
    fail_on: str | None,
    quiet: bool,
    command: tuple[str, ...],
) -> None:
    """Run a training script that was not changed, and name the cause when it goes wrong.

    Standard output is the script's own; torchmedic speaks on standard error. The exit code is the script's.
    """
    from torchmedic.launch.parent import new_run_folder, run_script
    from torchmedic.triage import examine

    check_command(command)
    check_writable(json_path)
    check_writable(sarif_path)
    folder = new_run_folder(command[1] if command[0] == "-m" else command[0])
    settings = Settings(
        run_folder=str(folder),
        parent=os.getpid(),
        on_sick=on_sick,
        break_probe=os.environ.get("TORCHMEDIC_BREAK_PROBE", ""),
    )
    status = run_script(command, folder, settings)
    verdict = examine(load_run(folder))
    if json_path is not None:
        from torchmedic.render.plain import to_json

        write_text(json_path, to_json(verdict))
    if sarif_path is not None:
        from torchmedic.render.sarif import to_sarif

        write_text(sarif_path, to_sarif(verdict))
    if verdict.diagnoses or verdict.unexplained or not quiet:
        from torchmedic.render.text import draw

        draw(verdict, console(error_stream=True))
    raise SystemExit(status or exit_code(verdict, fail_on))


def check_command(command: tuple[str, ...]) -> None:
    """Refuse what Python could not run, in one line."""
    first = command[0]
    if first == "-m":
        if len(command) < 2:
            raise OneLineError("-m needs the name of a module")
        return
    if first.startswith("-"):
        raise OneLineError(f"unknown option {first} (options of torchmedic come before the script)")
    path = Path(first)
    if not path.exists():
        raise OneLineError(f"{first}: no such script")
    if path.is_dir():
        if not (path / "__main__.py").exists():
            raise OneLineError(f"{first}: a directory without __main__.py")
        return
    try:
        head = path.read_bytes()[:4096]
    except OSError as error:
        raise OneLineError(f"{first}: cannot be read ({error.strerror})") from None
    if b"\0" in head and not head.startswith(b"PK"):
        raise OneLineError(f"{first}: not a Python script")
