"""Healthy training on several ranks gets silence, however it may look to a hasty eye."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.running import rendered, run_watched
from torchmedic.facts import RankSeen

SCRIPTS = Path(__file__).parent / "scripts"


@pytest.mark.parametrize("world", [2, 4])
def test_unused_parameters_uneven_inputs_accumulation_and_a_slow_evaluation_stay_silent(world: int) -> None:
    watched = run_watched(SCRIPTS / "healthy.py", str(world))
    assert watched.status == 0, watched.stderr
    assert watched.verdict.diagnoses == (), rendered(watched.verdict)
    assert [rank.info.rank for rank in watched.run.ranks] == list(range(world))
    assert all(rank.first(RankSeen) is not None for rank in watched.run.ranks)
