"""`torchmedic curves`: loss and score over the epochs that ran, and whether the stop was right; needs no torch."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

import click

from torchmedic.cli._output import OneLineError, check_writable, failing_in_one_line, load_run, newest_run, placed
from torchmedic.translation import said

if TYPE_CHECKING:
    from torchmedic.curves import Curves

_FORMATS = ("png", "svg", "pdf")


@click.command()
@click.option(
    "--out", type=click.Path(path_type=Path), help="Draw the curves into this file (png, svg or pdf; extra `plots`)."
)
@click.option("--caption/--no-caption", default=True, show_default=True, help="Write the verdict below the curves.")
@click.argument("run", type=click.Path(path_type=Path), required=False)
def command(out: Path | None, caption: bool, run: Path | None) -> None:
    """Draw the loss and score curves of a saved run and say whether its training ended at the right time.

    RUN is a run file or its folder below .torchmedic/; without it, the newest run of the working directory is taken.
    """
    from torchmedic.curves import curves_of

    run = newest_run() if run is None else run
    if out is not None:
        _check(out)
    curves = curves_of(load_run(run))
    if curves is None:
        raise OneLineError(f"{run}: no loss and no score in this run; note one with torchmedic.log(name, value)")
    if out is not None:
        _draw(out, curves, caption)
    click.echo(said(curves.sentence))


def _check(out: Path) -> None:
    if out.suffix[1:].lower() not in _FORMATS:
        raise OneLineError(f"{out}: the picture can be a .png, .svg or .pdf file")
    check_writable(out)
    if importlib.util.find_spec("matplotlib") is None:
        raise OneLineError("curves are drawn with matplotlib: pip install 'torchmedic[plots]'")


def _draw(out: Path, curves: Curves, caption: bool) -> None:
    from torchmedic.render.curves import font_spoken, save

    if font_spoken() is None:
        click.echo(
            said("torchmedic: no font with Chinese characters here: the words in the picture are English"), err=True
        )
    with placed(out) as place, failing_in_one_line(out):
        save(curves, place, caption=caption)
