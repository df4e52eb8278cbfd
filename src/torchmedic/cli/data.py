"""`torchmedic data`: is this data fit to train on?"""

from __future__ import annotations

import platform
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from torchmedic.cli._output import OneLineError, check_writable, console
from torchmedic.cli._results import STANDARD, check_result_path, write_result
from torchmedic.translation import said

if TYPE_CHECKING:
    from torchmedic.checkups.data.check import Checkup
    from torchmedic.findings import Verdict

_HELP = {
    "engine": "Where tables are read: on this machine, or on a cluster.",
    "group_by": "Column whose groups are normalised one by one; may be given several times.",
    "where": "Check only the rows for which this SQL condition holds.",
    "rows": "Write every bad cell (source, row, column, trouble, value) to a Parquet or CSV file.",
    "trust": "Open files that ask for foreign classes, which may run any code they like.",
}


@click.command()
@click.argument("targets", nargs=-1, metavar="PATH...")
@click.option("--group-by", multiple=True, metavar="COL", help=_HELP["group_by"])
@click.option("--label", metavar="COL", default="", help="The column of labels.")
@click.option("--id", "id_column", metavar="COL", default="", help="The column that names a row.")
@click.option("--time", "time_column", metavar="COL", default="", help="The column that says when.")
@click.option("--split", metavar="COL", default="", help="The column that says train or test.")
@click.option("--where", metavar="SQL", default="", help=_HELP["where"])
@click.option("--rows", "rows_path", type=click.Path(path_type=Path), help=_HELP["rows"])
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the verdict as JSON (- for stdout).")
@click.option("--engine", type=click.Choice(["duckdb", "spark"]), default="duckdb", help=_HELP["engine"])
@click.option("--remote", metavar="URL", default="", help="Spark Connect server, sc://HOST:15002; else SPARK_REMOTE.")
@click.option("--memory-limit", metavar="SIZE", default="", help="Memory for the engine, like 2GiB; it spills beyond.")
@click.option("--trust", is_flag=True, help=_HELP["trust"])
def command(json_path: Path | None, rows_path: Path | None, targets: tuple[str, ...], **asked: Any) -> None:
    """Check tables, arrays, images and graphs for what will spoil a training.

    PATH is a file, a folder or a pattern: CSV, TSV (also .gz, .zst), Parquet, JSON lines, Arrow, npy, npz,
    safetensors, .pt, images, SQLite, DuckDB. Exit 0 when nothing is wrong, 1 with findings.
    """
    from torchmedic.checkups.data.check import check_paths
    from torchmedic.checkups.data.options import DataError, Options, Progress

    check_result_path(json_path)
    check_writable(rows_path)
    if not targets:
        raise OneLineError("no PATH given")
    options = Options(
        group_by=asked["group_by"],
        label=asked["label"],
        id=asked["id_column"],
        time=asked["time_column"],
        split=asked["split"],
        where=asked["where"],
        trust=asked["trust"],
        engine=asked["engine"],
        remote=asked["remote"],
        memory_limit=asked["memory_limit"],
        rows_path=rows_path,
    )
    progress = Progress()
    started = time.monotonic()
    try:
        from torchmedic.cli._progress import shown

        with shown(progress):
            checkup = check_paths(targets, options, progress)
    except DataError as error:
        raise OneLineError(str(error)) from None
    verdict = _verdict(checkup, targets, time.monotonic() - started)
    if json_path is not None:
        from torchmedic.render.plain import to_json

        write_result(json_path, to_json(verdict))
    if json_path != STANDARD:
        _show(verdict, checkup)
    if checkup.interrupted:
        raise SystemExit(130)
    raise SystemExit(1 if any(d.severity != "hint" for d in verdict.diagnoses) else 0)


def _verdict(checkup: Checkup, targets: tuple[str, ...], seconds: float) -> Verdict:
    from dataclasses import replace

    from torchmedic.facts import DataSource, Run, RunInfo
    from torchmedic.triage import examine

    info = RunInfo(argv=("data", *targets), python=platform.python_version(), seconds=seconds)
    verdict = examine(Run(info=info, observations=tuple(checkup.seen)))
    sources = [
        {
            "source": seen.source,
            "format": seen.format,
            "rows": seen.rows,
            "columns": seen.columns,
            "files": len(seen.files),
            "bytes": seen.bytes,
            "roles": seen.roles,
            "guessed": list(seen.guessed),
            "complete": not seen.interrupted,
        }
        for seen in checkup.seen
        if isinstance(seen, DataSource)
    ]
    return replace(verdict, extra={"data": {"sources": sources, "interrupted": checkup.interrupted}})


def _show(verdict: Verdict, checkup: Checkup) -> None:
    from torchmedic.cli._results import hanging

    for source in verdict.extra["data"]["sources"]:
        click.echo(hanging(source["source"], said(_described(source)), 24))
    if verdict.diagnoses:
        from torchmedic.render.text import draw

        click.echo()
        draw(verdict, console(error_stream=False))
    elif not checkup.interrupted:
        click.echo(said("no trouble found"))
    if checkup.interrupted:
        click.echo(said("torchmedic: interrupted; this is what was known by then"), err=True)


def _described(source: dict[str, Any]) -> str:
    parts = [source["format"]]
    if source["rows"] is not None:
        parts.append(f"{source['rows']:,} rows, {source['columns']:,} columns")
    if source["files"] > 1:
        parts.append(f"{source['files']:,} files")
    for role, column in source["roles"].items():
        guess = " (guessed)" if role in source["guessed"] else ""
        parts.append(f"{role}: {column}{guess}")
    return "; ".join(parts)
