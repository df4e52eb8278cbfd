"""`torchmedic report`: read a saved run and diagnose it again; needs no torch."""

from __future__ import annotations

from pathlib import Path

import click

from torchmedic.cli._output import OneLineError, check_apart, console, load_run, newest_run
from torchmedic.cli._results import STANDARD, check_result_path, write_result


@click.command()
@click.option("--html", "html_path", type=click.Path(path_type=Path), help="Write it as one HTML page (- for stdout).")
@click.option("--light", is_flag=True, help="Keep the HTML page small: pictures instead of interactive charts.")
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the verdict as JSON (- for stdout).")
@click.option("--sarif", "sarif_path", type=click.Path(path_type=Path), help="Write it as SARIF 2.1.0 (- for stdout).")
@click.argument("run", type=click.Path(path_type=Path), required=False)
def command(
    html_path: Path | None, light: bool, json_path: Path | None, sarif_path: Path | None, run: Path | None
) -> None:
    """Diagnose a saved run again.

    RUN is a run file or its folder below .torchmedic/; without it, the newest run of the working directory is taken.
    """
    from torchmedic.render.diffs import with_diffs
    from torchmedic.triage import examine

    check_apart(html_path, json_path, sarif_path)
    for path in (html_path, json_path, sarif_path):
        check_result_path(path)
    if light and html_path is None:
        raise OneLineError("--light is about the page that --html writes")
    run = newest_run() if run is None else run
    found = load_run(run)
    verdict = with_diffs(examine(found))
    if html_path is not None:
        from torchmedic.reporting import html_report

        write_result(html_path, html_report(run, found, verdict, light=light))
    if json_path is not None:
        from torchmedic.render.plain import to_json

        write_result(json_path, to_json(verdict))
    if sarif_path is not None:
        from torchmedic.render.sarif import to_sarif

        write_result(sarif_path, to_sarif(verdict))
    if STANDARD not in (html_path, json_path, sarif_path):
        from torchmedic.render.text import draw

        draw(verdict, console(error_stream=False))
