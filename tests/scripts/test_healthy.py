"""Odd but healthy scripts: watching them ends in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.running import rendered, run_watched

HEALTHY = Path(__file__).resolve().parents[2] / "examples" / "healthy"


@pytest.mark.parametrize("script", sorted(HEALTHY.glob("*.py")), ids=lambda script: script.stem)
def test_healthy_script_gets_silence(script: Path) -> None:
    watched = run_watched(script, timeout=300)
    assert watched.status == 0, watched.stderr[-3000:]
    assert watched.codes == [], rendered(watched.verdict)
    assert watched.guesses == [], rendered(watched.verdict)
    assert "switched off" not in watched.stderr, watched.stderr[-3000:]
