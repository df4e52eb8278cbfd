"""`torchmedic live`: the page that shows runs while they grow."""

from __future__ import annotations

from pathlib import Path

import click

from torchmedic.cli._output import OneLineError
from torchmedic.settings import RUN_FILE
from torchmedic.translation import said


@click.command()
@click.option("--port", type=click.IntRange(1, 65535), help="Answer at this port.")
@click.argument("run", type=click.Path(path_type=Path), required=False)
def command(port: int | None, run: Path | None) -> None:
    """Show runs on a page of this machine: curves, layers and findings as they come.

    RUN is a run folder, or a folder that holds .torchmedic/; without it, the runs of the working directory are shown.
    The page can be read on this machine only, by those who know its address.
    """
    try:
        from torchmedic.live.server import open_socket, serve
    except ImportError as error:
        raise OneLineError(f"live needs more packages ({error.name}): pip install 'torchmedic[live]'") from None
    from torchmedic.live.runs import Runs
    from torchmedic.reporting import plotly_script

    script = plotly_script()
    if not script:
        raise OneLineError("live needs more packages (plotly): pip install 'torchmedic[live]'")
    base, chosen = _places(run)
    try:
        listener, address = open_socket(base, port)
    except OSError as error:
        raise OneLineError(f"cannot answer at port {port}: {error.strerror or error}") from None

    def announce() -> None:
        click.echo(said(f"torchmedic: live page: {address.url}"), err=True)
        click.echo(said(f"torchmedic: from another machine: {address.tunnel} and the same address there"), err=True)
        click.echo(said("torchmedic: Ctrl-C ends it"), err=True)

    serve(listener, address, Runs(base, chosen), script, announce)


def _places(run: Path | None) -> tuple[Path, Path | None]:
    """The folder with the runs, and the one to show first."""
    if run is None:
        return Path(".torchmedic").absolute(), None
    if run.is_file() and run.suffix != ".db":
        raise OneLineError(f"{run}: not a torchmedic run file")
    if run.is_file():
        run = run.parent
    if not run.is_dir():
        raise OneLineError(f"{run}: no such run")
    run = run.absolute()
    if (run / ".torchmedic").is_dir():
        return run / ".torchmedic", None
    if (run / RUN_FILE).exists():
        return run.parent, run
    if any(run.glob(f"*/{RUN_FILE}")):
        return run, None
    raise OneLineError(f"{run}: no run file in this folder")
