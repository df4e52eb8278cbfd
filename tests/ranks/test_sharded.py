"""Parameters that `fully_shard` spreads over ranks are left alone, which is said in one line."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.running import rendered, run_bare, run_watched

SCRIPT = Path(__file__).parent / "scripts" / "sharded.py"


def test_sharded_training_runs_as_without_us(tmp_path: Path) -> None:
    bare = run_bare(Path(shutil.copy(SCRIPT, tmp_path)))
    assert bare.status == 0, bare.stderr
    watched = run_watched(SCRIPT)
    assert watched.status == 0, watched.stderr
    assert sorted(watched.stdout.splitlines()) == sorted(bare.stdout.splitlines())
    assert watched.verdict.diagnoses == (), rendered(watched.verdict)
    ours = [line for line in watched.stderr.splitlines() if line.startswith("torchmedic:")]
    assert ours == [
        "torchmedic: parameters are sharded (DTensor): weights and gradients are not examined, and no step is withheld"
    ]


def test_parts_that_one_rank_alone_puts_together_are_a_collective_of_that_rank() -> None:
    watched = run_watched(SCRIPT, "gather")
    (diagnosis,) = [found for found in watched.verdict.diagnoses if found.severity == "error"]
    assert diagnosis.code == "RNK005", rendered(watched.verdict)
    assert diagnosis.headline == "rank 0 waits in `full_tensor` of `float32[16, 8]`, which rank 1 never calls"
    assert diagnosis.where is not None
    assert "# here: gather" in diagnosis.where.source
