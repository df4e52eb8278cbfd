"""Infinities that belong where they are: each of these healthy scripts gets silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.running import rendered, run_watched

SCRIPTS = sorted((Path(__file__).parent / "innocent").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_innocent_infinities_get_silence(script: Path) -> None:
    watched = run_watched(script)
    assert watched.status == 0, watched.stderr[-3000:]
    assert watched.codes == [], rendered(watched.verdict)
