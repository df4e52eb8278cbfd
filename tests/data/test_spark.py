"""The same findings from a real Spark Connect server as from DuckDB, on the same tables."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from click.testing import CliRunner

from tests.data.dirty import visits, write_csv
from torchmedic.checkups.data.check import check_paths
from torchmedic.checkups.data.options import Options
from torchmedic.cli.data import command
from torchmedic.facts import Run
from torchmedic.triage import examine

# Where there is Java, and wherever a change is judged, these tests must run: what is missing then is a failure.
_MUST_RUN = shutil.which("java") is not None or "TORCHMEDIC_TEST_SPARK" in os.environ
pytestmark = pytest.mark.skipif(not _MUST_RUN, reason="a Spark server needs Java")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    import pyspark

    port, folder = _free_port(), tmp_path_factory.mktemp("spark")
    settings = {
        "spark.connect.grpc.binding.port": port,
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": 1,
        "spark.sql.warehouse.dir": folder / "warehouse",
        # For a few small queries it takes longer to compile them, and the server, than to interpret them.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    asked = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    main = "org.apache.spark.sql.connect.service.SparkConnectServer"
    log = (folder / "log").open("w")
    process = subprocess.Popen(
        [str(submit), "--class", main, "--master", "local[1]", "--driver-memory", "1g", *asked, "spark-internal"],
        cwd=folder,
        stdout=log,
        stderr=subprocess.STDOUT,
        env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
    )
    try:
        _wait_for(port, process, folder / "log")
        yield f"sc://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=60)


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path, seconds: float = 240.0) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        assert process.poll() is None, log.read_text()[-3000:]
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.3)
    pytest.fail(f"no Spark Connect server after {seconds} s: {log.read_text()[-3000:]}")


def _findings(*paths: Path, **options: Any) -> list[tuple[Any, ...]]:
    checkup = check_paths(tuple(map(str, paths)), Options(**options))
    verdict = examine(Run(observations=tuple(checkup.seen)))
    return [
        (d.code, d.severity, d.headline, d.culprit.field, d.culprit.rows, d.culprit.group) for d in verdict.diagnoses
    ]


def test_every_finding_is_that_of_duckdb(server: str, tmp_path: Path) -> None:
    path = write_csv(tmp_path)
    on_duckdb = _findings(path, group_by=("itemid",))
    assert _findings(path, group_by=("itemid",), engine="spark", remote=server) == on_duckdb
    found = {code for code, *_ in on_duckdb}
    wanted = {
        "DAT100",
        "DAT101",
        "DAT102",
        "DAT103",
        "DAT104",
        "DAT105",
        "DAT108",
        "DAT111",
        "DAT113",
        "DAT114",
        "DAT118",
    }
    assert wanted <= found, wanted - found


def test_every_finding_about_other_columns_is_that_of_duckdb(server: str, tmp_path: Path) -> None:
    visits().to_parquet(tmp_path / "visits.parquet", index=False)
    on_duckdb = _findings(tmp_path / "visits.parquet")
    assert _findings(tmp_path / "visits.parquet", engine="spark", remote=server) == on_duckdb
    found = {code for code, *_ in on_duckdb}
    wanted = {
        "DAT100",
        "DAT103",
        "DAT107",
        "DAT116",
        "DAT117",
        "DAT121",
        "DAT122",
        "DAT123",
        "DAT124",
        "DAT139",
    }
    assert wanted <= found, wanted - found


def test_what_training_and_test_files_share_is_that_of_duckdb(server: str, tmp_path: Path) -> None:
    # Day first, as text.
    day = visits(800)["seen"].str.replace(r"(\d+)-(\d+)-(\d+).*", r"\3/\2/\1", regex=True)
    table = visits(800).assign(day=day, patient=lambda t: t["number"] % 800 * 7 % 30)
    table = table.drop(columns=["seen", "number"])
    parts = {"train": table.iloc[:600], "test": table.iloc[500:], "all": table}
    paths = [tmp_path / f"{name}.parquet" for name in parts]
    for path, part in zip(paths, parts.values(), strict=True):
        part.to_parquet(path, index=False)
    on_duckdb = _findings(*paths, time="day")
    assert _findings(*paths, time="day", engine="spark", remote=server) == on_duckdb
    assert {"DAT112", "DAT113", "DAT114", "DAT115"} <= {code for code, *_ in on_duckdb}


def test_rows_of_a_cluster_are_listed_by_their_id(server: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("record_id,v\n" + "".join(f"r{i},{i * 7 % 11}.5\n" for i in range(40)) + "r40,\n")
    rows = {}
    for engine, remote in (("duckdb", ""), ("spark", server)):
        path = tmp_path / f"{engine}.parquet"
        check_paths((str(tmp_path / "t.csv"),), Options(engine=engine, remote=remote, rows_path=path))
        rows[engine] = duckdb.sql(f'SELECT "row", "column", "trouble", "id" FROM \'{path}\'').fetchall()
    assert rows == {"duckdb": [(40, "v", "missing", "r40")], "spark": [(None, "v", "missing", "r40")]}


def test_a_server_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    answer = CliRunner().invoke(command, ["--engine", "spark", str(tmp_path)], env={"SPARK_REMOTE": ""})
    assert answer.exit_code == 2
    assert "needs --remote" in answer.output


@pytest.mark.parametrize("address", ["sc://127.0.0.1:1", "127.0.0.1:15002", "sc://no.such.host.invalid"])
def test_where_nobody_listens_is_told_in_one_line(address: str, tmp_path: Path) -> None:
    path = write_csv(tmp_path)
    begun = time.monotonic()
    answer = CliRunner().invoke(command, [str(path), "--engine", "spark", "--remote", address])
    assert answer.exit_code == 2
    assert f"no Spark Connect server answers at {address}" in answer.output
    assert len(answer.output.splitlines()) == 1
    assert time.monotonic() - begun < 60


def test_a_server_that_says_nothing_is_not_waited_for(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"sc://127.0.0.1:{silent.getsockname()[1]}"
        answer = CliRunner().invoke(command, [str(write_csv(tmp_path)), "--engine", "spark", "--remote", address])
    assert answer.exit_code == 2
    assert "what listens there does not speak its protocol" in answer.output
