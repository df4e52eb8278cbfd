"""A run that waits for a child which waits for room in a pipe that the run reads only afterwards."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.running import rendered, run_watched

SCRIPT = Path(__file__).parent / "scripts" / "full_pipe.py"


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at through /proc")
@pytest.mark.parametrize("kind", ["queue", "program", "folds"])
def test_a_full_pipe_is_named(kind: str) -> None:
    watched = run_watched(SCRIPT, kind, on_stuck="stop", stuck_after=2.0)
    (diagnosis,) = [found for found in watched.verdict.diagnoses if found.severity == "error"]
    assert diagnosis.code == "RNK003", rendered(watched.verdict)
    assert "blocked writing to a pipe" in diagnosis.headline
    assert diagnosis.where is not None
    assert f"# here: {kind}" in diagnosis.where.source
