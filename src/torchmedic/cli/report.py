"""`torchmedic report`: read a saved run and diagnose it again; needs no torch."""

from __future__ import annotations

from pathlib import Path

import click

from torchmedic.cli._output import console, load_run
from torchmedic.cli._results import STANDARD, check_result_path, write_result


@click.command()
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the verdict as JSON (- for stdout).")
@click.option("--sarif", "sarif_path", type=click.Path(path_type=Path), help="Write it as SARIF 2.1.0 (- for stdout).")
@click.argument("run", type=click.Path(path_type=Path))
def command(json_path: Path | None, sarif_path: Path | None, run: Path) -> None:
    """Diagnose a saved run again. RUN is a run file or its folder below .torchmedic/."""
    from torchmedic.triage import examine

    check_result_path(json_path)
    check_result_path(sarif_path)
    verdict = examine(load_run(run))
    if json_path is not None:
        from torchmedic.render.plain import to_json

        write_result(json_path, to_json(verdict))
    if sarif_path is not None:
        from torchmedic.render.sarif import to_sarif

        write_result(sarif_path, to_sarif(verdict))
    if STANDARD not in (json_path, sarif_path):
        from torchmedic.render.text import draw

        draw(verdict, console(error_stream=False))
