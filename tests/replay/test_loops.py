"""A sick step is seen again whatever loop it runs in: same line, same step, weights as before it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.running import run_watched
from torchmedic.facts import Origin, SickStep

LOOPS = Path(__file__).parent / "loops"
BY_CLOSURE = {"lbfgs_closure"}
BY_SECOND_RUN = {"stops_itself"}


def marked_line(script: Path, mark: str) -> int:
    return next(n for n, line in enumerate(script.read_text().splitlines(), start=1) if line.endswith(f"# {mark}"))


def expected_way(name: str) -> str:
    if name in BY_CLOSURE:
        return "the optimizer's closure was called again"
    return "the script was run again from the start" if name in BY_SECOND_RUN else "the loop's own body was run again"


@pytest.mark.parametrize("script", sorted(LOOPS.glob("*.py")), ids=lambda p: p.stem)
def test_the_origin_is_found_in_every_kind_of_loop(script: Path) -> None:
    watched = run_watched(script)
    origin, sick = watched.run.last(Origin), watched.run.last(SickStep)
    assert origin is not None, watched.stderr[-2000:]
    assert sick is not None
    assert sick.reproduced
    assert sick.way == expected_way(script.stem)
    assert origin.op.where is not None
    assert origin.op.where.line == marked_line(script, "origin")
    assert watched.verdict.outcome != "healthy"


def test_the_replay_prints_nothing_twice() -> None:
    watched = run_watched(LOOPS / "for_slices.py")
    lines = watched.stdout.splitlines()
    assert lines == [f"0 {i}" for i in range(0, 120, 20)]
