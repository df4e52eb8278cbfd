"""Parameters that `fully_shard` spreads over ranks are left alone, which is said in one line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.running import rendered, run_watched

SCRIPT = Path(__file__).parent / "scripts" / "sharded.py"


def test_sharded_training_runs_as_without_us(tmp_path: Path) -> None:
    bare = subprocess.run(
        [sys.executable, str(SCRIPT)],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
        timeout=120,
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    watched = run_watched(SCRIPT)
    assert watched.status == 0, watched.stderr
    assert sorted(watched.stdout.splitlines()) == sorted(bare.stdout.splitlines())
    assert watched.verdict.diagnoses == (), rendered(watched.verdict)
    ours = [line for line in watched.stderr.splitlines() if line.startswith("torchmedic:")]
    assert ours == [
        "torchmedic: parameters are sharded (DTensor): weights and gradients are not examined, and no step is withheld"
    ]
