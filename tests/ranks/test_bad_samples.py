"""A sample that is not finite on one rank: told at the line that made it so, wherever that line is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "scripts" / "bad_sample.py"
_TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
_MEDIC = ("-m", "torchmedic", "run", "--json", "verdict.json")


def line_of(mark: str) -> int:
    return next(n for n, line in enumerate(SCRIPT.read_text().splitlines(), 1) if line.endswith(f"# here: {mark}"))


@pytest.mark.parametrize(
    ("how", "code"), [("sample", "DAT034"), ("collate", "DAT035"), ("prepared", "DAT034"), ("file", "DAT031")]
)
def test_the_line_the_sample_and_the_rank_are_named(how: str, code: str, tmp_path: Path) -> None:
    command = [sys.executable, *_MEDIC, *_TORCHRUN, str(SCRIPT), how]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    verdict = json.loads((tmp_path / "verdict.json").read_text())
    (diagnosis,) = [found for found in verdict["diagnoses"] if found["severity"] == "error"]
    assert (diagnosis["code"], diagnosis["ranks"], diagnosis["step"]) == (code, [1], 5), done.stderr
    assert diagnosis["where"]["line"] == line_of(how)
    assert any("sample 37 of the data set" in note for note in diagnosis["evidence"])


def test_a_rank_under_its_own_torchmedic_names_the_line_and_weights_stay_equal(tmp_path: Path) -> None:
    command = [sys.executable, *_TORCHRUN, *_MEDIC, "--on-sick", "skip", str(SCRIPT), "sample"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    verdict = json.loads((tmp_path / "verdict.json").read_text())
    (diagnosis,) = [found for found in verdict["diagnoses"] if found["severity"] == "error"]
    assert (diagnosis["code"], diagnosis["where"]["line"]) == ("DAT034", line_of("sample")), done.stderr
    weights = done.stdout.splitlines()
    assert len(weights) == 2
    assert len(set(weights)) == 1, "equal on all ranks"
    assert weights[0].startswith("weights True")
