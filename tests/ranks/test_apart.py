"""Ranks that no longer make the same calls: what is named is the call where they parted, not the one they wait in."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.running import rendered, run_watched
from torchmedic.findings import Diagnosis

SCRIPT = Path(__file__).parent / "scripts" / "apart.py"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at through /proc")


def _told(kind: str, world: int = 2) -> Diagnosis:
    watched = run_watched(SCRIPT, kind, str(world), on_stuck="stop", stuck_after=3.0)
    (diagnosis,) = [found for found in watched.verdict.diagnoses if found.severity == "error"]
    print(rendered(watched.verdict))
    return diagnosis


def _line(kind: str) -> int:
    lines = SCRIPT.read_text().splitlines()
    return next(n for n, line in enumerate(lines, start=1) if "# here:" in line and kind in line.split("# here:")[1])


def test_a_rank_with_fewer_batches_is_named_across_functions() -> None:
    told = _told("uneven")
    assert (told.code, told.ranks, told.where and told.where.line) == ("RNK007", (1,), _line("uneven"))
    assert told.headline == "rank 1 left after 6 steps, rank 0 has more batches"
    assert "rank 0 has received 7 batches and made 6 steps" in told.evidence
    assert any(also.location.source.strip() == "for x in loader:" for also in told.also)


def test_a_rank_that_stops_early_is_named_where_it_does() -> None:
    told = _told("patience")
    assert (told.code, told.ranks, told.where and told.where.line) == ("RNK007", (1,), _line("patience"))
    assert told.headline == "rank 1 left the loop after 10 steps, and rank 0 did not"


@pytest.mark.parametrize("kind", ["skip", "swallow"])
def test_a_rank_that_skips_a_batch_has_as_many(kind: str) -> None:
    told = _told(kind)
    assert (told.code, told.ranks, told.where and told.where.line) == ("RNK007", (1,), _line(kind))
    assert told.headline == "rank 1 left after 9 steps, having skipped batches that came to it"
    assert not any("has ended normally" in note for note in told.evidence)
    assert "skip on all ranks" in told.remedies[0].title


def test_a_forward_of_one_rank_alone_is_named() -> None:
    told = _told("buffers")
    assert (told.code, told.ranks, told.where and told.where.line) == ("RNK005", (0,), _line("buffers"))
    assert "model.module(x)" in told.remedies[0].title


def test_the_call_that_an_early_return_passes_by_is_named() -> None:
    told = _told("early", world=4)
    assert (told.code, told.ranks, told.where and told.where.line) == ("RNK005", (0, 1, 3), _line("early"))
    assert "which rank 2 never calls" in told.headline
    assert "`if`" not in told.remedies[0].title


def test_a_rank_that_goes_round_for_ever_is_named_where_it_does() -> None:
    script = SCRIPT.with_name("endless.py")
    watched = run_watched(script, on_stuck="stop", stuck_after=0.5)
    (diagnosis,) = [found for found in watched.verdict.diagnoses if found.severity == "error"]
    assert diagnosis.code == "RNK017", rendered(watched.verdict)
    assert diagnosis.headline == "rank 1 goes round in one function, and rank 0 waits for it"
    assert diagnosis.where is not None
    assert diagnosis.where.function == "Negatives.__getitem__"
