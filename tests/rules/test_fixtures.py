"""Every rule's bad script gets its diagnosis on the marked line, its good twin gets silence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.catalogue import FIXTURES, expectations, scripts
from tests.running import rendered, run_watched, run_watched_afresh
from tests.snapshots import assert_same_text

# What these show depends on the memory, the libraries and the threads of the process they run in.
_AFRESH = {"killed_process", "mixed_openmp_runtimes", "held_up_rank"}


def _name(script: Path) -> str:
    return str(script.relative_to(FIXTURES))


@pytest.mark.parametrize("script", scripts("bad"), ids=_name)
def test_bad_script_gets_its_diagnosis_on_the_marked_line(script: Path) -> None:
    watched = run_watched_afresh(script) if script.parent.name in _AFRESH else run_watched(script)
    assert "switched off" not in watched.stderr, watched.stderr[-3000:]
    loud = [d for d in watched.verdict.diagnoses if d.severity != "hint"] or list(watched.verdict.diagnoses)
    assert loud, f"silence; stderr was:\n{watched.stderr[-3000:]}"
    top = loud[0]
    at = (top.code, os.path.basename(top.where.file) if top.where else "", top.where.line if top.where else 0)
    assert at in expectations(script), rendered(watched.verdict)
    snapshot = script.with_name(script.stem.replace("bad", "expected") + ".txt")
    text = rendered(watched.verdict)
    if os.environ.get("TORCHMEDIC_BLESS"):
        snapshot.write_text(text)
    assert_same_text(text, snapshot.read_text())


@pytest.mark.parametrize("script", scripts("good"), ids=_name)
def test_good_script_stays_silent(script: Path) -> None:
    watched = run_watched(script)
    assert watched.status == 0, watched.stderr[-3000:]
    assert "switched off" not in watched.stderr, watched.stderr[-3000:]
    assert watched.codes == [], rendered(watched.verdict)
    assert watched.guesses == [], rendered(watched.verdict)
