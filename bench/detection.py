"""Sets torchmedic beside plain Python, anomaly mode and other tools on a folder of cases.

    python bench/detection.py [FOLDER] [--only n01,s02] [--tools torchmedic,anomaly] [--jobs 2] [--json OUT]

A case is a folder with `train.py` and `truth.json`: the guilty `file` and `line` (and `lines_ok`), the `family` of the
cause (`healthy` for none) and `names` that a good answer mentions. Each runs in a fresh copy of its folder. Of each
tool the first thing that it says counts: found (it said anything, and an exception that ends the script says
something), line (it points at an accepted line; for anomaly mode that of the forward call that it blames), cause (it
mentions one of the names, and its code is of a fitting family if it has codes), exact (line and cause), and false
alarms on healthy cases.

The tools of the package index are installed in environments of their own below ~/.cache/torchmedic-bench. What could
not be installed, did not survive a script or ran out of time is listed below the table.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.detecting.asking import tools
from bench.detecting.cases import Answer, Case, Judged, cases_in, judge
from bench.detecting.peers import PEERS, NotInstallable, python_with

CASES = Path(__file__).resolve().parent / "cases"
Ask = Callable[[Path, float], Answer]


def examine(case: Case, tool: str, ask: Ask, seconds: float) -> Judged:
    """Ask a tool about a case in a copy that does not hold the answer."""
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch) / case.name
        shutil.copytree(case.folder, work, ignore=shutil.ignore_patterns("truth.json", "__pycache__"))
        judged = judge(case, tool, ask(work, seconds))
    print(
        f"{case.name:5} {tool:24} {_mark(judged):12} {judged.failure or judged.said[:90]}", file=sys.stderr, flush=True
    )
    return judged


def _mark(judged: Judged) -> str:
    if not judged.found:
        return "silent"
    if judged.is_healthy:
        return "FALSE ALARM"
    return "exact" if judged.exact else "line" if judged.line else "cause" if judged.cause else "found"


def table(rows: list[Judged], names: list[str]) -> str:
    lines = ["| tool | found | line | cause | exact | false alarms |", "|---|---|---|---|---|---|"]
    for name in names:
        sick = [r for r in rows if r.tool == name and not r.is_healthy]
        well = [r for r in rows if r.tool == name and r.is_healthy]
        counts = (sum(getattr(r, what) for r in sick) for what in ("found", "line", "cause", "exact"))
        cells = [*(f"{n} of {len(sick)}" for n in counts), f"{sum(r.found for r in well)} of {len(well)}"]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def failures(rows: list[Judged]) -> str:
    """Which tool could not be asked about which cases, by reason."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row.failure:
            reasons.setdefault((row.tool, row.failure), []).append(row.case)
    return "\n".join(f"{tool} on {', '.join(cases)}: {reason}" for (tool, reason), cases in reasons.items())


def installed(names: list[str]) -> list[str]:
    """The tools that are there, before their environments are used side by side."""
    found = []
    for name in names:
        try:
            if name in PEERS:
                python_with(name)
            found.append(name)
        except NotInstallable as reason:
            print(f"{name} {PEERS[name]} does not install: {reason}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=CASES)
    parser.add_argument("--only", default="", help="names of cases, with commas")
    parser.add_argument("--tools", default="", help="beginnings of names of tools, with commas")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=180.0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    ways = tools()
    chosen = [name for name in ways if name.startswith(tuple(options.tools.split(",")))]
    names = installed(chosen)
    cases = cases_in(options.folder, frozenset(filter(None, options.only.split(","))))
    with ThreadPoolExecutor(options.jobs) as pool:
        jobs = [pool.submit(examine, case, name, ways[name], options.timeout) for case in cases for name in names]
        rows = [job.result() for job in jobs]
    print(table(rows, names))
    print(failures(rows))
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1))


if __name__ == "__main__":
    main()
