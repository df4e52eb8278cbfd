"""Makes healthy scripts sick in known ways and counts how often torchmedic names the fault and its line.

    python bench/mutants.py [--sample 60 --seed 0] [--mutators a,b] [--scripts a,b] [--jobs 1] [--out F]

Every mutator of `bench/mutation` is applied to every script of `examples/healthy` that it fits. Of each mutant the
first diagnosis counts: `line` when it stands on a line that the mutator changed (or on which the lost call belongs),
`exact` when its code also names the fault.

A mutant that gets silence is left out as harmless when one of these holds, which the bench checks by running it:
its output is that of the healthy script, character by character; or the mutator only changes a choice that may be
as good (a rate, a schedule, a frozen layer) and the last figure that the script prints is as good as before.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

# One thread per process, before torch is imported: the scripts run side by side.
os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.mutation.command import main

if __name__ == "__main__":
    sys.exit(main())
