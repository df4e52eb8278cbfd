"""Ranks that all stand still, each by itself and none in a collective: the cause is told, once for all of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.running import rendered, run_watched

SCRIPT = Path(__file__).parent / "scripts" / "elsewhere.py"


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at through /proc")
@pytest.mark.parametrize(("how", "code"), [("loader", "RNK001"), ("file", "RNK002")])
def test_what_every_rank_waits_for_is_named(how: str, code: str) -> None:
    watched = run_watched(SCRIPT, how, on_stuck="stop", stuck_after=2.0, first_step_after=4.0)
    (diagnosis,) = [found for found in watched.verdict.diagnoses if found.severity == "error"]
    assert diagnosis.code == code, rendered(watched.verdict)
    assert diagnosis.where is not None
    assert f"# here: {how}" in diagnosis.where.source
    assert any(note.startswith("seen on") for note in diagnosis.evidence)
