"""When a script is run a second time, on hand-made facts."""

from __future__ import annotations

import pytest

from torchmedic.facts import LossCall, Run, TensorSummary, UnseenArithmetic
from torchmedic.launch.retrace import exploded_from_the_start, narrow_since_then


def a_first_loss(function: str, loss: float, baseline: float, targets: tuple[float, float]) -> Run:
    low, high = targets
    call = LossCall(
        step=1,
        function=function,
        where=None,
        expression=f"{function}(out, y)",
        names=("out", "y"),
        given=TensorSummary(shape=(8, 3), dtype="float32"),
        target=TensorSummary(shape=(8,), dtype="float32", minimum=low, maximum=high),
        loss=loss,
        baseline=baseline,
    )
    return Run(observations=(call,))


@pytest.mark.parametrize(
    ("function", "loss", "targets"),
    [
        ("nll_loss", 1.1, (0, 0)),
        ("binary_cross_entropy", 3.5, (1, 1)),
        ("cross_entropy", 40.0, (2, 2)),
        ("l1_loss", 1.4, (1, 1)),
    ],
)
def test_targets_that_are_all_alike_make_no_first_loss_enormous(
    function: str, loss: float, targets: tuple[float, float]
) -> None:
    assert exploded_from_the_start(a_first_loss(function, loss, 0.0, targets)) is None


@pytest.mark.parametrize(("function", "baseline"), [("cross_entropy", 0.0), ("cross_entropy", 2.3), ("l1_loss", 0.5)])
def test_a_first_loss_beyond_reason_is_looked_at_again(function: str, baseline: float) -> None:
    assert exploded_from_the_start(a_first_loss(function, 40_000.0, baseline, (0, 2))) is not None


@pytest.mark.parametrize(("lines", "is_run_again"), [(3, True), (80, False)])
def test_lines_of_a_whole_project_are_no_reason_to_start_it_again(lines: int, is_run_again: bool) -> None:
    seen = UnseenArithmetic(step=9, lines=tuple(f"data.py:{line}" for line in range(lines)))
    assert (narrow_since_then(Run(observations=(seen,))) is not None) == is_run_again
