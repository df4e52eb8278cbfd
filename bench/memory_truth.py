"""Predicted against measured peaks: the scripts of tests/memory/scripts, measured on an H200 (memory_truth.json)."""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from pathlib import Path

from torchmedic.checkups.memory.asking import Request
from torchmedic.cli._memory_runs import predict

HERE = Path(__file__).resolve().parent
SCRIPTS = HERE.parent / "tests" / "memory" / "scripts"
MIB = 1 << 20


def main() -> None:
    """Print one row for each measured peak; words on the command line choose the scripts."""
    truth = json.loads((HERE / "memory_truth.json").read_text())
    os.chdir(SCRIPTS)
    errors = []
    print(f"{'script':28}{'true':>9}{'predicted':>11}{'error':>9}{'reserved':>10}{'predicted':>11}{'error':>9}{'s':>7}")
    for row in truth["rows"]:
        name = " ".join([row["script"], *row["arguments"]])
        if sys.argv[1:] and not any(word in name for word in sys.argv[1:]):
            continue
        began = time.perf_counter()
        plan = predict([row["script"], *row["arguments"]], Request(card=truth["card"]))
        seconds = time.perf_counter() - began
        if plan is None:
            print(f"{name:28}  no answer")
            continue
        allocated, reserved = (
            got / true - 1
            for got, true in (
                (plan.peak_allocated, row["allocated"]),
                (plan.peak_reserved, row["reserved"]),
            )
        )
        errors.append(abs(allocated))
        print(
            f"{name:28}{row['allocated'] / MIB:9.1f}{plan.peak_allocated / MIB:11.1f}{allocated:+9.2%}"
            f"{row['reserved'] / MIB:10.0f}{plan.peak_reserved / MIB:11.0f}{reserved:+9.2%}{seconds:7.1f}"
            f"   requested {(plan.peak_requested - row['requested']) / MIB:+.2f} MiB"
        )
    if errors:
        print(f"peak allocated: median error {statistics.median(errors):.2%}, largest {max(errors):.2%}")


if __name__ == "__main__":
    main()
