"""Predicted against measured peaks: the scripts of tests/memory/scripts, measured on an H200 (memory_truth.json)."""

from __future__ import annotations

import json
import os
import resource
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
    print(
        f"{'script':28}{'true':>9}{'predicted':>11}{'error':>9}{'reserved':>10}{'predicted':>11}{'error':>9}"
        f"{'s':>7}{'CPU s':>7}{'steps':>6}"
    )
    for row in truth["rows"]:
        name = " ".join([row["script"], *row["arguments"]])
        if sys.argv[1:] and not any(word in name for word in sys.argv[1:]):
            continue
        began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        plan = predict([row["script"], *row["arguments"]], Request(card=truth["card"]))
        seconds, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        worked = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if plan is None or plan.lost is not None:
            print(f"{name:28}  {plan.lost.error if plan is not None and plan.lost is not None else 'no answer'}")
            continue
        allocated, reserved = (
            got / true - 1
            for got, true in (
                (plan.peak_allocated, row["allocated"]),
                (plan.peak_reserved, row["reserved"]),
            )
        )
        errors.append((abs(allocated), abs(reserved)))
        print(
            f"{name:28}{row['allocated'] / MIB:9.1f}{plan.peak_allocated / MIB:11.1f}{allocated:+9.2%}"
            f"{row['reserved'] / MIB:10.0f}{plan.peak_reserved / MIB:11.0f}{reserved:+9.2%}"
            f"{seconds:7.1f}{worked:7.1f}{plan.steps:6}"
        )
    for what, found in zip(("allocated", "reserved"), zip(*errors, strict=True), strict=False):
        print(f"peak {what}: median error {statistics.median(found):.2%}, largest {max(found):.2%}")
    print(f"largest process: {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
