"""A rank that is killed: its own file and those of the others say which one, when, and of what."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.running import rendered, run_watched
from torchmedic.facts import CollectiveCalls, RankEnded

SCRIPT = Path(__file__).parent / "scripts" / "killed.py"


@pytest.mark.parametrize("world", [2, 4])
def test_the_rank_that_was_killed_is_named(world: int) -> None:
    watched = run_watched(SCRIPT, str(world), "kill")
    last = world - 1
    (diagnosis,) = [found for found in watched.verdict.diagnoses if found.severity == "error"]
    assert diagnosis.code == "RNK008", rendered(watched.verdict)
    assert diagnosis.headline.startswith(f"rank {last} of {world} died of SIGKILL")
    assert diagnosis.step == 5, "its last collective was that of the sixth step, which five had gone before"
    assert diagnosis.ranks == (last,)
    assert watched.verdict.outcome == "crashed"
    assert watched.verdict.info.steps >= 5, "as many as it sampled before it died"
    assert diagnosis.where is not None
    assert "backward" in diagnosis.where.source
    assert [rank.info.rank for rank in watched.run.ranks] == list(range(world))
    ended = {rank.info.rank: rank.first(RankEnded) for rank in watched.run.ranks}
    killed = ended[last]
    assert killed is not None
    assert killed.signal == "SIGKILL"
    assert killed.at > 0, "when"
    assert all(rank.first(CollectiveCalls) is not None for rank in watched.run.ranks), "what each had called"


@pytest.mark.parametrize("how", ["exit", "leave"])
def test_a_rank_that_leaves_with_a_status_is_named(how: str) -> None:
    watched = run_watched(SCRIPT, "2", how)
    (diagnosis,) = [found for found in watched.verdict.diagnoses if found.severity == "error"]
    assert diagnosis.code == "RNK008", rendered(watched.verdict)
    assert diagnosis.headline == "rank 1 of 2 ended with status 3, without an exception"
    assert diagnosis.where is not None
    assert f"# here: {how}" in diagnosis.where.source
    assert any("rank 0 lost the connection" in note for note in diagnosis.evidence)
    assert watched.verdict.outcome == "crashed"
