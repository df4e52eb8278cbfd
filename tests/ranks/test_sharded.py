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
