"""Accelerate, Lightning and `mp.spawn` start ranks in their own ways; each rank is watched and one verdict is given."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from torchmedic.ranks.merging import load_whole

SCRIPTS = Path(__file__).parent / "scripts"
_MEDIC = (sys.executable, "-m", "torchmedic", "run", "--json", "verdict.json")
# Accelerate starts one process on a machine without a card unless it is told of several.
_ACCELERATE = (
    *("accelerate", "launch", "--multi_gpu", "--num_processes", "2", "--num_machines", "1", "--main_process_port", "0"),
    *("--mixed_precision", "no", "--dynamo_backend", "no"),
)


def watched(folder: Path, script: str, *arguments: str, launcher: tuple[str, ...] = ()) -> tuple[str, dict[str, Any]]:
    """What a run of two ranks says on standard error, and its verdict."""
    shutil.copy(SCRIPTS / script, folder / script)
    done = subprocess.run(
        [*_MEDIC, *launcher, script, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    (run,) = folder.glob(".torchmedic/[0-9]*")
    assert [rank.info.rank for rank in load_whole(run).ranks] == [0, 1], done.stderr
    return done.stderr, json.loads((folder / "verdict.json").read_text())


@pytest.mark.parametrize(
    ("script", "launcher", "rank"),
    [("accelerated.py", _ACCELERATE, 1), ("lit.py", (), 1), ("spawned.py", (), 1)],
    ids=["accelerate", "lightning", "spawn"],
)
def test_the_rank_and_the_sample_of_a_nan_are_named(
    script: str, launcher: tuple[str, ...], rank: int, tmp_path: Path
) -> None:
    said, verdict = watched(tmp_path, script, "sick", launcher=launcher)
    (diagnosis,) = [found for found in verdict["diagnoses"] if found["severity"] == "error"]
    assert diagnosis["code"] == "NUM002"
    assert "torch.log" in diagnosis["where"]["source"]
    assert diagnosis["culprit"]["sample"] == 37
    assert f"seen on rank {rank} of 2" in diagnosis["evidence"]
    assert said.count("error[") == 1
    assert verdict["unexplained"] == []


def test_the_exception_of_a_spawned_rank_is_explained(tmp_path: Path) -> None:
    said, verdict = watched(tmp_path, "bad_label.py")
    (diagnosis,) = [found for found in verdict["diagnoses"] if found["severity"] == "error"]
    assert (diagnosis["code"], diagnosis["ranks"]) == ("ERR019", [1]), said
    assert (diagnosis["step"], diagnosis["culprit"]["sample"]) == (7, 201)
    assert verdict["outcome"] == "crashed"


def test_accelerate_with_healthy_ranks_gets_silence(tmp_path: Path) -> None:
    _, verdict = watched(tmp_path, "accelerated.py", launcher=_ACCELERATE)
    assert (verdict["outcome"], verdict["diagnoses"]) == ("healthy", [])
