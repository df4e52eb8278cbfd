"""What a data check-up costs: against a hand-written query, against unpacking alone, against a profiler.

Makes a table of lab events (30 million rows by default, 750 items of which 30 are constant and 5 all but constant),
and prints one table of what was promised and what was measured in one run. Every measurement is a process of its own,
so that peak memory is its own.
"""

from __future__ import annotations

import argparse
import gzip
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LIMIT = "1GiB"
KINDS = ("statistics_pass", "by_hand", "unpack", "whole", "profiler", "profiler_page")
EVENTS = """
SELECT i AS labevent_id, CAST(hash(i * 7 + 1) % 40000 AS INTEGER) AS subject_id,
 CAST(hash(i * 11 + 3) % 60000 AS INTEGER) + 20000000 AS hadm_id, CAST(50800 + hash(i) % 750 AS INTEGER) AS itemid,
 CASE WHEN hash(i) % 750 < 30 THEN 12.34 + hash(i) % 750
  WHEN hash(i) % 750 < 35 THEN 97.7 + 1e-6 * CAST(hash(i * 5) % 7 AS DOUBLE)
  ELSE round((hash(i) % 750) / 10.0 + (hash(i * 13) % 100000) / 1000.0 + (hash(i * 17) % 100000) / 1000.0, 3)
 END AS valuenum, CASE WHEN hash(i * 19) % 3 = 0 THEN 'abnormal' ELSE 'normal' END AS flag
FROM range({rows}) t(i)
"""
FINITE = "abs(valuenum) <= 1.7976931348623157e308"
WHOLE = ("labevent_id", "subject_id", "hadm_id")
# What somebody who knows SQL would write for the same numbers: all columns, and the values by item.
BY_HAND = f"""
SELECT itemid, count(*), count(valuenum), count(*) FILTER (WHERE isnan(valuenum)), count(*) FILTER (WHERE {FINITE}),
 count(*) FILTER (WHERE abs(valuenum) > 65504 AND {FINITE}), min(valuenum) FILTER (WHERE {FINITE}),
 max(valuenum) FILTER (WHERE {FINITE}), avg(valuenum) FILTER (WHERE {FINITE}),
 stddev_samp(valuenum) FILTER (WHERE {FINITE}), min(abs(valuenum)) FILTER (WHERE {FINITE} AND valuenum <> 0),
 {", ".join(f"count({c}), min({c}), max({c}), avg({c}), stddev_samp({c})" for c in WHOLE)},
 count(flag), min(flag), max(flag)
FROM {{table}} GROUP BY GROUPING SETS ((), (itemid))
"""


def make(folder: Path, rows: int) -> None:
    """The table as Parquet, as CSV.gz, and a sample of a million rows."""
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET memory_limit = '2GB'")
    for name, form in (("labs.parquet", "parquet"), ("labs.csv.gz", "csv, HEADER, COMPRESSION gzip")):
        if not (folder / name).exists():
            connection.execute(f"COPY ({EVENTS.format(rows=rows)}) TO '{folder / name}' (FORMAT {form})")
    if not (folder / "sample.parquet").exists():
        connection.execute(f"COPY ({EVENTS.format(rows=min(rows, 1_000_000))}) TO '{folder}/sample.parquet'")


def make_large(folder: Path, gigabytes: int) -> None:
    """A set of Parquet files of about two gigabytes each, of numbers that cannot be compressed."""
    import numpy as np
    import pyarrow
    import pyarrow.parquet

    folder.mkdir(parents=True, exist_ok=True)
    for part in range(gigabytes // 2):
        if (folder / f"part-{part}.parquet").exists():
            continue
        writer = None
        for piece in range(5):
            rng = np.random.default_rng(1000 * part + piece)
            table = pyarrow.table({f"x{i}": rng.standard_normal(2_500_000) for i in range(20)})
            writer = writer or pyarrow.parquet.ParquetWriter(
                folder / f"part-{part}.parquet", table.schema, compression="none", use_dictionary=False
            )
            writer.write_table(table)
        if writer is not None:
            writer.close()


def large(folder: Path, gigabytes: int) -> None:
    """Time and peak memory of the whole check-up over a tenth, a half and all of a large set."""
    make_large(folder, gigabytes)
    files = sorted(folder.iterdir(), key=lambda path: int(path.stem.removeprefix("part-")))
    for parts in sorted({1, max(1, len(files) // 2), len(files)}):
        size = sum(path.stat().st_size for path in files[:parts]) / 1e9
        print(f"{size:.1f} GB in {parts} files")
        measured("whole", *files[:parts])


def statistics_pass(path: Path, limit: str = "") -> dict[str, Any]:
    """The statistics pass of the check-up and nothing else."""
    from torchmedic.checkups.data.engine import connected
    from torchmedic.checkups.data.opening import open_tables
    from torchmedic.checkups.data.options import Options, Progress
    from torchmedic.checkups.data.sources import find_sources
    from torchmedic.checkups.data.statistics import flat_groups
    from torchmedic.checkups.data.tables import first_look

    with connected(limit) as connection:
        started, cpu = time.perf_counter(), time.process_time()
        opened = next(open_tables(connection, find_sources((str(path),))[0], Options()))
        looked = first_look(opened.table, Options(), Progress())
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
        columns = opened.table.columns if opened.table.reads_once else looked.roles.values
        at = [column.name for column in columns].index("valuenum")
        constant, near, _ = flat_groups(looked.numbers.groups["itemid"], at)
    return {"seconds": seconds, "cpu": cpu, "constant": len(constant), "near": len(near)}


def by_hand(path: Path) -> dict[str, Any]:
    """The hand-written query."""
    from torchmedic.checkups.data.engine import connected

    with connected() as connection:
        started, cpu = time.perf_counter(), time.process_time()
        connection.execute(BY_HAND.format(table=f"'{path}'")).fetchall()
        return {"seconds": time.perf_counter() - started, "cpu": time.process_time() - cpu}


def unpack(path: Path) -> dict[str, Any]:
    """The standard library's gzip alone."""
    started, cpu = time.perf_counter(), time.process_time()
    with gzip.open(path) as packed:
        while packed.read(1 << 20):
            pass
    return {"seconds": time.perf_counter() - started, "cpu": time.process_time() - cpu}


def whole(*paths: Path) -> dict[str, Any]:
    """The whole check-up, exact duplicates included, under a limit for the process; imports are not counted."""
    import duckdb  # noqa: F401
    import numpy  # noqa: F401
    import pyarrow  # noqa: F401

    from torchmedic.checkups.data.check import check_paths
    from torchmedic.checkups.data.options import Options

    started, cpu = time.perf_counter(), time.process_time()
    seen = check_paths(tuple(map(str, paths)), Options(memory_limit=LIMIT)).seen
    return {"seconds": time.perf_counter() - started, "cpu": time.process_time() - cpu, "facts": len(seen)}


def profiler(path: Path, page: Path | None = None) -> dict[str, Any]:
    """fg-data-profiling's minimal report as JSON, where it is installed; imports are not counted."""
    import pandas
    from data_profiling import ProfileReport

    started, cpu = time.perf_counter(), time.process_time()
    report = ProfileReport(pandas.read_parquet(path), minimal=True, progress_bar=False)
    if page is None:
        report.to_json()
    else:
        report.to_file(page)
    return {"seconds": time.perf_counter() - started, "cpu": time.process_time() - cpu}


def profiler_page(path: Path) -> dict[str, Any]:
    """The same report as a page of HTML."""
    with tempfile.TemporaryDirectory() as scratch:
        return profiler(path, Path(scratch) / "report.html")


def measured(what: str, *paths: Path, python: str = sys.executable) -> dict[str, Any]:
    """One measurement in a process of its own, with its peak memory."""
    started = time.perf_counter()
    output = subprocess.run(
        [python, __file__, "--only", what, "--path", *map(str, paths)], check=True, capture_output=True, text=True
    ).stdout
    result: dict[str, Any] = json.loads(output.splitlines()[-1]) | {"process": time.perf_counter() - started}
    numbers = ", ".join(f"{key} {value:.3g}" for key, value in result.items())
    print(f"{what} of {paths[0].name}: {numbers}", flush=True)
    return result


@dataclass
class Line:
    """One line of the table: ours against theirs, and what was promised."""

    what: str
    ours: str
    theirs: str
    found: float
    promised: float
    more_is_better: bool = False

    def __str__(self) -> str:
        holds = self.found >= self.promised if self.more_is_better else self.found <= self.promised
        bound = f"{'at least' if self.more_is_better else 'at most'} {self.promised:g}"
        cells = (self.what, self.ours, self.theirs, f"{self.found:.3g}", bound, "yes" if holds else "**no**")
        return f"| {' | '.join(cells)} |"


def against(what: str, ours: str, theirs: str, path: Path, rounds: int, promised: float) -> Iterator[Line]:
    """The median of the ratios of some rounds, by the clock and by the processor, and our peak memory."""
    pairs = [(measured(ours, path), measured(theirs, path)) for _ in range(rounds)]
    for unit, word in (("seconds", "s"), ("cpu", "s of processor")):
        mine, other = sorted(pairs, key=lambda pair: pair[0][unit] / pair[1][unit])[rounds // 2]
        ratio = mine[unit] / other[unit]
        yield Line(f"{what}, {word}", f"{mine[unit]:.2f}", f"{other[unit]:.2f}", ratio, promised)
    peak = max(mine["peak_gib"] for mine, _ in pairs)
    yield Line(f"{what}, peak memory in GiB", f"{peak:.2f}", "", peak, 0.6)
    flat = {(mine["constant"], mine["near"]) for mine, _ in pairs}
    yield Line(f"{what}, flat groups not found or too many", str(flat), "(30, 5)", float(flat != {(30, 5)}), 0)


def faster(folder: Path, rounds: int, python: str) -> Iterator[Line]:
    """A million rows against the profiler, in JSON and as a page."""
    for what, theirs in (("report as JSON", "profiler"), ("report as a page", "profiler_page")):
        pairs = [
            (measured("whole", folder / "sample.parquet"), measured(theirs, folder / "sample.parquet", python=python))
            for _ in range(rounds)
        ]
        for unit in ("seconds", "cpu", "process"):
            mine, other = sorted(pairs, key=lambda pair: pair[1][unit] / pair[0][unit])[rounds // 2]
            ratio, told = other[unit] / mine[unit], f"1 million rows, {what}, {unit}"
            yield Line(told, f"{mine[unit]:.2f}", f"{other[unit]:.2f}", ratio, 20, more_is_better=True)


def compare(folder: Path, rounds: int, profiler_python: str) -> None:
    lines = list(against("Parquet", "statistics_pass", "by_hand", folder / "labs.parquet", rounds, 1.3))
    lines += against("CSV.gz", "statistics_pass", "unpack", folder / "labs.csv.gz", rounds, 3.0)
    peak = measured("whole", folder / "labs.parquet")["peak_gib"]
    lines.append(Line(f"exact duplicates under {LIMIT}, peak memory in GiB", f"{peak:.2f}", "", peak, 1.0))
    if profiler_python:
        lines += faster(folder, rounds, profiler_python)
    else:
        print("no --profiler-python: no comparison with fg-data-profiling")
    print("\n| what | ours | theirs | found | promised | holds |\n|---|---|---|---|---|---|")
    print(*lines, sep="\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=30_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where the tables are made and kept")
    parser.add_argument("--profiler-python", default="", help="an interpreter in which fg-data-profiling is installed")
    parser.add_argument("--large", type=int, default=0, metavar="GB", help="only scan a set of this size")
    parser.add_argument(
        "--only", choices=["statistics_pass", "by_hand", "unpack", "whole", "profiler", "profiler_page"]
    )
    parser.add_argument("--path", type=Path, nargs="+")
    asked = parser.parse_args()
    if asked.only:
        result = globals()[asked.only](*asked.path)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20)
        print(json.dumps({**result, "peak_gib": peak}))
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        if asked.large:
            large(folder / "large", asked.large)
            return
        make(folder, asked.rows)
        compare(folder, asked.rounds, asked.profiler_python)


if __name__ == "__main__":
    main()
