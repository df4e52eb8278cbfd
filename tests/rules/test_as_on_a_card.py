"""A loss that lies on a card is read late, many at a time: what is said of the run is the same."""

from __future__ import annotations

import pytest

from tests.catalogue import FIXTURES, expectations
from tests.running import rendered, run_watched
from torchmedic.probes.events import autograd

_JUDGED_BY_LOSSES = [
    "learning_rate_too_high",
    "diverged_after_rate_change",
    "gradients_clipped_away",
    "dominant_column",
    "loss_term_without_floor",
    "loss_scale_collapse",
    "exploding_weights",
]


@pytest.mark.parametrize("name", _JUDGED_BY_LOSSES)
def test_losses_that_are_read_late_lead_to_the_same_diagnosis(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read = autograd.scalar
    monkeypatch.setattr(autograd, "scalar", lambda root, wait=False: read(root, wait=True) if wait else None)
    script = FIXTURES / name / "bad.py"
    watched = run_watched(script)
    top = watched.verdict.diagnoses[0]
    assert top.where is not None
    assert (top.code, "bad.py", top.where.line) in expectations(script), rendered(watched.verdict)
