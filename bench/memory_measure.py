"""Measures scripts on a true card, a row of memory_truth.json for each: the other half of memory_truth.py.

    python bench/memory_measure.py [--traces FOLDER] [SCRIPT ...]

A script may be given with its arguments, in quotes; without one, those of tests/memory/scripts are measured.
With `--traces` every allocation and release is written too, for `memory_replay.py`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent / "tests" / "memory" / "scripts"
_MOST_EVENTS = 2_000_000
_PREFIX = "measured: "


def main() -> None:
    """Run every script in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--traces", type=Path)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("scripts", nargs="*")
    asked = parser.parse_args()
    if asked.here:
        _measure(asked.scripts[0], asked.traces)
        return
    for script in asked.scripts or sorted(str(path) for path in SCRIPTS.glob("*.py")):
        traces = ["--traces", str(asked.traces.resolve())] if asked.traces else []
        command = [sys.executable, __file__, *traces, "--here", "--", script]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        row = next((line for line in done.stdout.splitlines() if line.startswith(_PREFIX)), None)
        error = (done.stderr.strip().splitlines() or ["no output"])[-1]
        print(row.removeprefix(_PREFIX) if row else json.dumps({"script": script, "error": error}), flush=True)


def _measure(command: str, traces: Path | None) -> None:
    import torch

    script, *arguments = shlex.split(command)
    sys.argv = [script, *arguments]
    sys.path.insert(0, str(Path(script).parent))
    if traces is not None:
        torch.cuda.memory._record_memory_history(enabled="all", context=None, max_entries=_MOST_EVENTS)
    runpy.run_path(script, run_name="__main__")
    torch.cuda.synchronize()
    stats = torch.cuda.memory_stats()
    row = {
        "script": Path(script).name,
        "arguments": arguments,
        "allocated": stats["allocated_bytes.all.peak"],
        "reserved": stats["reserved_bytes.all.peak"],
        "requested": stats["requested_bytes.all.peak"],
    }
    if traces is not None:
        traces.mkdir(parents=True, exist_ok=True)
        events = torch.cuda.memory._snapshot()["device_traces"][0]
        text = "\n".join(f"{e['action']} {e['size']} {e['addr']} {e.get('stream', 0)}" for e in events)
        (traces / f"{Path(script).stem}.txt.gz").write_bytes(gzip.compress(text.encode()))
    print(_PREFIX + json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
