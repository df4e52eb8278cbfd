"""Numbers that the script gives to its tracker are followed; findings are written into it, when there are any."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.running import run_watched
from torchmedic.facts import MetricPoint, RunInfo
from torchmedic.findings import Verdict
from torchmedic.integrations.trackers import write_verdict
from torchmedic.store import load

_SCRIPT = Path(__file__).parent / "scripts" / "tracked.py"


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path / "tracked"))


def _files(folder: Path) -> Iterator[bytes]:
    for parent, _, names in os.walk(folder):
        yield from (Path(parent, name).read_bytes() for name in names)


@pytest.mark.parametrize("tracker", ["tensorboard", "mlflow"])
def test_numbers_are_heard_and_findings_written(tracker: str, tmp_path: Path) -> None:
    # The tracker's files outlive the run in a folder of the test's own.
    watched = run_watched(_SCRIPT, tracker, str(tmp_path / "tracked"))
    assert watched.status == 0, watched.stderr[-3000:]
    assert watched.codes == ["WIR001"]
    heard = [p for p in watched.run.all(MetricPoint) if p.source == tracker]
    assert {p.name for p in heard} == {"val/accuracy"}
    assert [p.epoch for p in heard] == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert any(b"in the list `self.blocks`" in content for content in _files(tmp_path / "tracked"))


@pytest.mark.parametrize("tracker", ["wandb", "trackio", "swanlab"])
def test_a_tracker_that_writes_late_is_told_before_it_closes_itself_at_exit(tracker: str, tmp_path: Path) -> None:
    shutil.copy(_SCRIPT, tmp_path)
    command = [sys.executable, "-m", "torchmedic", "run", _SCRIPT.name, tracker, str(tmp_path / "tracked")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    run = load(next((tmp_path / ".torchmedic").glob("*-tracked-*")))
    heard = [p for p in run.all(MetricPoint) if p.source == tracker]
    assert {p.name for p in heard} == {"val/accuracy"}
    assert [p.epoch for p in heard] == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert any(b"in the list `self.blocks`" in content for content in _files(tmp_path / "tracked"))


class _Closed:
    def add_text(self, *args: object, **kwargs: object) -> None:
        raise ValueError("closed")


def test_a_tracker_that_fails_costs_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    from torchmedic.findings import Diagnosis

    found = Diagnosis(code="WIR001", name="x", family="wiring", severity="error", confidence="proven", headline="a")
    write_verdict(Verdict(outcome="sick", info=RunInfo(), diagnoses=(found,)), {"tensorboard": _Closed()})
    assert capfd.readouterr().err == "torchmedic: findings were not written to tensorboard (ValueError: closed)\n"


def test_a_healthy_run_leaves_no_trace_in_the_tracker(capfd: pytest.CaptureFixture[str]) -> None:
    write_verdict(Verdict(outcome="healthy", info=RunInfo()), {"tensorboard": _Closed()})
    assert capfd.readouterr().err == ""
