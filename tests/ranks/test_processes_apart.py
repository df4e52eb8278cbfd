"""Processes that train by themselves, without a process group: each is watched, or it is said that it is not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parent / "scripts" / "folds.py"


def watched(folder: Path, how: str, method: str) -> tuple[str, dict[str, Any]]:
    command = [sys.executable, "-m", "torchmedic", "run", "--json", "verdict.json", str(SCRIPT), how, method]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr, json.loads((folder / "verdict.json").read_text())


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_the_process_with_a_nan_is_named_and_the_other_goes_on(method: str, tmp_path: Path) -> None:
    said, verdict = watched(tmp_path, "sick", method)
    (diagnosis,) = [found for found in verdict["diagnoses"] if found["severity"] == "error"]
    assert (diagnosis["code"], diagnosis["ranks"], diagnosis["step"]) == ("NUM002", [1], 10), said
    assert "seen in process 1 of 2, counted from 0" in diagnosis["evidence"]
    assert len(list(tmp_path.glob(".torchmedic/*/rank?/rank?.db"))) == 2, "one run file per process"


@pytest.mark.parametrize(("how", "method", "steps"), [("healthy", "spawn", 16), ("pool", "fork", 32)])
def test_healthy_processes_get_silence(how: str, method: str, steps: int, tmp_path: Path) -> None:
    _, verdict = watched(tmp_path, how, method)
    assert (verdict["outcome"], verdict["diagnoses"]) == ("healthy", [])
    assert verdict["run"]["steps"] >= steps // 2


def test_weights_that_several_processes_train_at_once_are_said_not_to_be_watched(tmp_path: Path) -> None:
    said, verdict = watched(tmp_path, "shared", "fork")
    assert said.count("trains weights that are shared with others (Hogwild); it is not watched") == 2
    assert verdict["diagnoses"] == []
