"""Healthy training on several ranks gets silence, however it may look to a hasty eye."""

from __future__ import annotations

from pathlib import Path

from tests.running import rendered, run_watched
from torchmedic.facts import RankSeen

SCRIPTS = Path(__file__).parent / "scripts"


def test_unused_parameters_on_purpose_uneven_inputs_and_a_slow_evaluation_stay_silent() -> None:
    watched = run_watched(SCRIPTS / "healthy.py")
    assert watched.status == 0, watched.stderr
    assert watched.verdict.diagnoses == (), rendered(watched.verdict)
    assert [rank.info.rank for rank in watched.run.ranks] == [0, 1]
    assert all(rank.first(RankSeen) is not None for rank in watched.run.ranks)
