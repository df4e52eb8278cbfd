"""Parameters that `fully_shard` spreads over ranks are left alone, which is said in one line."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.running import rendered, run_bare, run_watched
from torchmedic.facts import CollectiveCalls

SCRIPT = Path(__file__).parent / "scripts" / "sharded.py"


def test_sharded_training_runs_as_without_us(tmp_path: Path) -> None:
    bare = run_bare(Path(shutil.copy(SCRIPT, tmp_path)))
    assert bare.status == 0, bare.stderr
    watched = run_watched(SCRIPT)
    assert watched.status == 0, watched.stderr
    assert sorted(watched.stdout.splitlines()) == sorted(bare.stdout.splitlines())
    assert watched.verdict.diagnoses == (), rendered(watched.verdict)
    calls = {call.op for seen in watched.run.all(CollectiveCalls) for call in seen.calls}
    assert calls
    assert all(op.startswith(("all_gather", "reduce_scatter")) for op in calls), "we call for no exchange of our own"
    ours = [line for line in watched.stderr.splitlines() if line.startswith("torchmedic:")]
    assert ours == [
        "torchmedic: parameters are sharded (DTensor): weights and gradients are not examined, and no step is withheld"
    ]


@pytest.mark.parametrize(
    ("how", "call"),
    [
        ("gather", "`full_tensor` of `float32[16, 8]`"),
        ("norm", "the exchange of parts of a spread `float32[4]`"),
        ("state", "the exchange of parts of a spread `float32[16, 8]`"),
    ],
)
def test_parts_that_one_rank_alone_puts_together_are_a_collective_of_that_rank(how: str, call: str) -> None:
    watched = run_watched(SCRIPT, how)
    (diagnosis,) = [found for found in watched.verdict.diagnoses if found.severity == "error"]
    assert diagnosis.code == "RNK005", rendered(watched.verdict)
    assert diagnosis.headline == f"rank 0 waits in {call}, which rank 1 never calls"
    assert diagnosis.where is not None
    assert f"# here: {how}" in diagnosis.where.source
    assert "switched off" not in watched.stderr
