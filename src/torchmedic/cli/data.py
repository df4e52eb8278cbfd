"""`torchmedic data`: is this data fit to train on?"""

from __future__ import annotations

import contextlib
import platform
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from torchmedic.cli._output import OneLineError, check_apart, check_writable, console, placed, write_text
from torchmedic.cli._results import STANDARD, check_result_path, write_result
from torchmedic.cli._script_data import WithScript, data_of, script_arguments
from torchmedic.translation import said

if TYPE_CHECKING:
    from torchmedic.checkups.data.check import Checkup
    from torchmedic.checkups.data.options import Options
    from torchmedic.facts import Run
    from torchmedic.findings import Verdict

_HELP = {
    "engine": "Where tables are read: on this machine, or on a cluster.",
    "group_by": "Column (or several, A,B) whose groups are normalised one by one; may be given several times.",
    "where": "Check only the rows for which this SQL condition holds.",
    "rows": "Write every bad cell (source, row, column, trouble, value, id, group) to a Parquet or CSV file.",
    "script": "Check what this script reads; it is run until its training begins, and all that follows is its own.",
    "trust": "Open files that ask for foreign classes, which may run any code they like.",
}


@click.command(cls=WithScript)
@click.argument("targets", nargs=-1, metavar="PATH...")
@click.option("--group-by", multiple=True, metavar="COL", help=_HELP["group_by"])
@click.option("--label", metavar="COL", default="", help="The column of labels.")
@click.option("--id", "id_column", metavar="COL", default="", help="The column that names a row.")
@click.option("--time", "time_column", metavar="COL", default="", help="The column that says when.")
@click.option("--split", metavar="COL", default="", help="The column that says train or test.")
@click.option("--where", metavar="SQL", default="", help=_HELP["where"])
@click.option("--rows", "rows_path", type=click.Path(path_type=Path), help=_HELP["rows"])
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the verdict as JSON (- for stdout).")
@click.option("--html", "html_path", type=click.Path(path_type=Path), help="Write the verdict as a page.")
@click.option("--engine", type=click.Choice(["duckdb", "spark"]), default="duckdb", help=_HELP["engine"])
@click.option("--remote", metavar="URL", default="", help="Spark Connect server, sc://HOST:15002; else SPARK_REMOTE.")
@click.option("--memory-limit", metavar="SIZE", default="", help="Memory for the process, like 2GiB.")
@click.option("--trust", is_flag=True, help=_HELP["trust"])
@click.option("--for", "script", metavar="SCRIPT [ARGS]...", default="", help=_HELP["script"])
def command(
    json_path: Path | None, html_path: Path | None, script: str, targets: tuple[str, ...], **asked: Any
) -> None:
    """Check tables, arrays, images and graphs for what will spoil a training.

    PATH is a file, a folder or a pattern: CSV, TSV (also .gz, .zst), Parquet, JSON lines, Arrow, npy, npz,
    safetensors, .pt, images, SQLite, DuckDB. Exit 0 when nothing is wrong, 1 with findings.
    """
    from torchmedic.checkups.data.check import check_paths
    from torchmedic.checkups.data.options import DataError, Progress

    check_apart(json_path, html_path, asked["rows_path"])
    if asked["rows_path"] is not None and asked["rows_path"].suffix not in (".parquet", ".csv"):
        raise OneLineError("--rows: its name must end in .parquet or .csv")
    if any(not name.strip(" ,") for name in asked["group_by"]):
        raise OneLineError("--group-by: no column is named")
    check_result_path(json_path)
    for path in (html_path, asked["rows_path"]):
        check_writable(path)
    if not targets and not script:
        raise OneLineError("no PATH given")
    targets, options = _asked_for(targets, script, asked)
    progress = Progress()
    started = time.monotonic()
    try:
        from torchmedic.cli._progress import shown

        with shown(progress), _rows_placed(options) as placed_options:
            checkup = check_paths(targets, placed_options, progress)
    except DataError as error:
        raise OneLineError(str(error)) from None
    run, verdict = _verdict(checkup, targets, time.monotonic() - started)
    if json_path is not None:
        from torchmedic.render.plain import to_json

        write_result(json_path, to_json(verdict))
    if html_path is not None:
        from torchmedic.reporting import html_report

        write_text(html_path, html_report(None, run, verdict))
    if json_path != STANDARD:
        _show(verdict, checkup)
    if checkup.interrupted:
        raise SystemExit(130)
    raise SystemExit(1 if any(d.severity != "hint" for d in verdict.diagnoses) else 0)


@contextlib.contextmanager
def _rows_placed(options: Options) -> Iterator[Options]:
    """The same options, with the list of rows where it does not yet stand in for an older one."""
    if options.rows_path is None:
        yield options
        return
    from dataclasses import replace

    with placed(options.rows_path) as place:
        yield replace(options, rows_path=place)


def _asked_for(targets: tuple[str, ...], script: str, asked: dict[str, Any]) -> tuple[tuple[str, ...], Options]:
    """The paths and the options; with a script also what it was seen to read, and how it scales that."""
    from dataclasses import replace

    from torchmedic.checkups.data.options import Options

    renamed = {"id_column": "id", "time_column": "time"}
    options = Options(**{renamed.get(name, name): value for name, value in asked.items()})
    if not script:
        return targets, options
    seen = data_of((script, *script_arguments()))
    return (*targets, *seen.paths), replace(options, normalised=seen.normalised, read_at=seen.read_at)


def _verdict(checkup: Checkup, targets: tuple[str, ...], seconds: float) -> tuple[Run, Verdict]:
    from dataclasses import replace

    from torchmedic.facts import DataSource, Run, RunInfo
    from torchmedic.triage import examine

    info = RunInfo(
        argv=("data", *targets),
        python=platform.python_version(),
        seconds=seconds,
        interrupted=checkup.interrupted,
    )
    run = Run(info=info, observations=tuple(checkup.seen))
    verdict = examine(run)
    sources = [
        {
            "source": seen.source,
            "format": seen.format,
            "rows": seen.rows,
            "columns": seen.columns,
            "files": seen.file_count or len(seen.files),
            "bytes": seen.bytes,
            "roles": seen.roles,
            "guessed": list(seen.guessed),
            "complete": not seen.interrupted,
            "read_at": str(seen.asked) if seen.asked is not None else None,
        }
        for seen in checkup.seen
        if isinstance(seen, DataSource)
    ]
    return run, replace(verdict, extra={"data": {"sources": sources, "interrupted": checkup.interrupted}})


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
        rows, columns = source["rows"], source["columns"]
        parts.append(f"{rows:,} row{'' if rows == 1 else 's'}, {columns:,} column{'' if columns == 1 else 's'}")
    if source["files"] > 1:
        parts.append(f"{source['files']:,} files")
    for role, column in source["roles"].items():
        guess = " (guessed)" if role in source["guessed"] else ""
        parts.append(f"{role}: {column}{guess}")
    if not source["complete"]:
        parts.append("not looked at to its end")
    if source["read_at"] is not None:
        parts.append(f"read at {source['read_at']}")
    return "; ".join(parts)
