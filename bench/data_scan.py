"""What a data check-up costs: against a hand-written query, against unpacking alone, against a profiler.

Makes a table of lab events (30 million rows by default, 750 items of which 30 are constant and 5 all but constant),
and prints ratios measured in one run. Every measurement is a process of its own, so that peak memory is its own.
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
from pathlib import Path
from typing import Any

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
    """Peak memory of the whole check-up over the first part of a large set, and over all of it."""
    make_large(folder, gigabytes)
    measured("whole", folder / "part-0.parquet")
    measured("whole", folder)
    print(f"{sum(path.stat().st_size for path in folder.iterdir()) / 1e9:.1f} GB in {gigabytes // 2} files")


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


def whole(path: Path) -> dict[str, Any]:
    """The whole check-up, exact duplicates included."""
    from torchmedic.checkups.data.check import check_paths
    from torchmedic.checkups.data.options import Options

    started, cpu = time.perf_counter(), time.process_time()
    seen = check_paths((str(path),), Options(memory_limit="1GiB")).seen
    return {"seconds": time.perf_counter() - started, "cpu": time.process_time() - cpu, "facts": len(seen)}


def profiler(path: Path) -> dict[str, Any]:
    """fg-data-profiling's minimal report, where it is installed."""
    import pandas
    from data_profiling import ProfileReport

    started, cpu = time.perf_counter(), time.process_time()
    ProfileReport(pandas.read_parquet(path), minimal=True, progress_bar=False).to_json()
    return {"seconds": time.perf_counter() - started, "cpu": time.process_time() - cpu}


def measured(what: str, path: Path, python: str = sys.executable) -> dict[str, Any]:
    """One measurement in a process of its own, with its peak memory."""
    output = subprocess.run(
        [python, __file__, "--only", what, "--path", str(path)], check=True, capture_output=True, text=True
    ).stdout
    result: dict[str, Any] = json.loads(output.splitlines()[-1])
    numbers = ", ".join(f"{key} {value:.3g}" for key, value in result.items())
    print(f"{what} of {path.name}: {numbers}", flush=True)
    return result


def compare(folder: Path, rounds: int, profiler_python: str) -> None:
    ratios: dict[str, list[float]] = {}
    for _ in range(rounds):
        for name, ours, theirs, kind in (
            ("Parquet, against a hand-written query", "statistics_pass", "by_hand", "labs.parquet"),
            ("CSV.gz, against unpacking alone", "statistics_pass", "unpack", "labs.csv.gz"),
        ):
            first, second = measured(theirs, folder / kind), measured(ours, folder / kind)
            ratios.setdefault(name, []).append(first["seconds"] and second["seconds"] / first["seconds"])
            ratios.setdefault(f"{name} (CPU)", []).append(second["cpu"] / first["cpu"])
    for name, values in ratios.items():
        print(f"{name}: {sorted(values)[len(values) // 2]:.2f}x")
    measured("whole", folder / "labs.parquet")
    ours = measured("whole", folder / "sample.parquet")
    if not profiler_python:
        print("no --profiler-python: no comparison with fg-data-profiling")
        return
    theirs_too = measured("profiler", folder / "sample.parquet", profiler_python)
    for unit in ("seconds", "cpu"):
        print(f"1 million rows, against fg-data-profiling ({unit}): {theirs_too[unit] / ours[unit]:.1f}x faster")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=30_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where the tables are made and kept")
    parser.add_argument("--profiler-python", default="", help="an interpreter in which fg-data-profiling is installed")
    parser.add_argument("--large", type=int, default=0, metavar="GB", help="only scan a set of this size")
    parser.add_argument("--only", choices=["statistics_pass", "by_hand", "unpack", "whole", "profiler"])
    parser.add_argument("--path", type=Path)
    asked = parser.parse_args()
    if asked.only:
        result = globals()[asked.only](asked.path)
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
