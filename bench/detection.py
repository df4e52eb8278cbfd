"""Sets torchmedic beside plain Python, anomaly mode and Hugging Face's overflow detector on a folder of cases.

    python bench/detection.py [FOLDER] [--only n01,s02] [--ways torchmedic,anomaly] [--jobs 2] [--json OUT]

A case is a folder with `train.py` and `truth.json`: the guilty `file` and `line` (and `lines_ok`), the `family` of the
cause (`healthy` for none) and `names` that a good answer mentions. Of each tool the first thing it says counts:
found (it said anything), line (it points at an accepted line), cause (right family and at least one of the names; a
tool without causes is given this when it mentions a name), exact (line and cause), and false alarms on healthy cases.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
FITTING = {
    "data": "DAT NUM LOS",
    "nonfinite-forward": "NUM DAT",
    "nonfinite-backward": "NUM",
    "amp": "NUM TRN WIR",
    "exploding": "NUM TRN DAT",
    "lr": "TRN NUM DAT",
    "dtype": "ERR NUM DAT WIR TRN",
    "zero-grad": "WIR TRN",
    "not-in-optimizer": "WIR",
    "unregistered": "WIR",
    "broken-graph": "WIR ERR",
    "mode": "WIR TRN",
    "leakage": "DAT LOS",
    "wrong-loss": "LOS",
    "dead-activation": "TRN LOS WIR",
    "scheduler": "WIR TRN",
    "checkpoint": "WIR",
    "loader": "DAT ERR WIR",
    "memory": "MEM",
    "shape": "ERR NUM DAT LOS WIR",
    "ddp": "WIR RNK",
    "inplace": "ERR WIR",
    "frozen": "WIR",
}
ANOMALY = """
import runpy, sys, torch
torch.autograd.set_detect_anomaly(True)
sys.argv = ["train.py"]
runpy.run_path("train.py", run_name="__main__")
"""
OVERFLOW = """
import gc, runpy, sys, torch
from transformers.debug_utils import DebugUnderflowOverflow
build = torch.optim.Optimizer.__init__
def watched(self, params, *args, **kwargs):
    build(self, params, *args, **kwargs)
    held = {id(p) for group in self.param_groups for p in group["params"]}
    modules = [m for m in gc.get_objects() if isinstance(m, torch.nn.Module)]
    models = [m for m in modules if any(id(p) in held for p in m.parameters())]
    inner = {id(child) for m in models for child in m.modules() if child is not m}
    self.watchers = [DebugUnderflowOverflow(m) for m in models if id(m) not in inner]
torch.optim.Optimizer.__init__ = watched
sys.argv = ["train.py"]
runpy.run_path("train.py", run_name="__main__")
"""


@dataclass(frozen=True)
class Answer:
    """The first thing that a tool said about a case: where it points, its words, and the family that it names."""

    file: str = ""
    line: int = 0
    words: str = ""
    family: str = ""

    @property
    def is_silent(self) -> bool:
        return not self.words


@dataclass(frozen=True)
class Judged:
    """What an answer was worth."""

    case: str
    way: str
    is_healthy: bool
    found: bool
    line: bool
    cause: bool

    @property
    def exact(self) -> bool:
        return self.line and self.cause


def ask_torchmedic(work: Path, seconds: float) -> Answer:
    report = work.parent / "report.json"
    _run([sys.executable, "-m", "torchmedic", "run", "--json", str(report), "train.py"], work, seconds)
    if not report.exists():
        return Answer()
    diagnoses = json.loads(report.read_text())["diagnoses"]
    loud = [d for d in diagnoses if d["severity"] != "hint"]
    if not loud:
        return Answer()
    where = loud[0].get("where") or {}
    return Answer(where.get("file") or "", where.get("line") or 0, json.dumps(loud[0]), loud[0]["code"][:3])


def ask_python(work: Path, seconds: float) -> Answer:
    return _from_traceback(_run([sys.executable, "train.py"], work, seconds), work)


def ask_anomaly(work: Path, seconds: float) -> Answer:
    text = _run([sys.executable, "-c", ANOMALY], work, seconds)
    blamed = re.search(r"Error detected in \w+\. Traceback of forward call.*?\n\n", text + "\n\n", re.DOTALL)
    return _from_traceback(blamed.group() if blamed else text, work, is_error=blamed is not None)


def ask_overflow(work: Path, seconds: float) -> Answer:
    text = _run([sys.executable, "-c", OVERFLOW], work, seconds)
    if "Detected inf/nan during batch_number" in text:
        return Answer(words=text[text.index("Detected inf/nan") :][:4000])
    return _from_traceback(text, work)


WAYS: dict[str, Callable[[Path, float], Answer]] = {
    "torchmedic": ask_torchmedic,
    "plain Python": ask_python,
    "anomaly mode": ask_anomaly,
    "DebugUnderflowOverflow": ask_overflow,
}


def _run(command: list[str], work: Path, seconds: float) -> str:
    """Standard error of a command, and of its output what detectors print."""
    environment = dict(os.environ, OMP_NUM_THREADS="1", PYTHONWARNINGS="default")
    try:
        done = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return ""
    return done.stderr + ("\n" + done.stdout if "Detected inf/nan" in done.stdout else "")


def _from_traceback(text: str, work: Path, *, is_error: bool = False) -> Answer:
    """The innermost line of the case's own files in a traceback; silence where there is none."""
    if "Traceback" not in text and not is_error:
        return Answer()
    frames = re.findall(r'File "([^"]+)", line (\d+)', text)
    own = [(Path(file).name, int(line)) for file, line in frames if (work / Path(file).name).exists()]
    file, line = own[-1] if own else ("", 0)
    return Answer(file, line, text.strip().splitlines()[-1] if not is_error else text)


def judge(case: str, way: str, truth: dict[str, object], answer: Answer) -> Judged:
    healthy = truth["family"] == "healthy"
    accepted = {(str(truth["file"] or "train.py"), truth["line"])}
    for item in truth.get("lines_ok") or []:  # type: ignore[union-attr]
        file, _, line = str(item).rpartition(":")
        accepted.add((file or str(truth["file"]), int(line)))
    at = {(Path(file).name, line) for file, line in accepted}
    named = any(str(name).lower() in answer.words.lower() for name in truth["names"])  # type: ignore[union-attr, attr-defined]
    fits = not answer.family or answer.family in FITTING.get(str(truth["family"]), "").split()
    return Judged(
        case=case,
        way=way,
        is_healthy=healthy,
        found=not answer.is_silent,
        line=not answer.is_silent and (Path(answer.file).name, answer.line) in at,
        cause=not answer.is_silent and fits and named,
    )


def examine(case: Path, way: str, seconds: float) -> Judged:
    truth = json.loads((case / "truth.json").read_text())
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch) / case.name
        shutil.copytree(case, work, ignore=shutil.ignore_patterns("truth.json"))
        return judge(case.name, way, truth, WAYS[way](work, seconds))


def table(rows: list[Judged], ways: list[str]) -> str:
    lines = ["| tool | found | line | cause | exact | false alarms |", "|---|---|---|---|---|---|"]
    for way in ways:
        sick = [r for r in rows if r.way == way and not r.is_healthy]
        well = [r for r in rows if r.way == way and r.is_healthy]
        counts = [sum(getattr(r, what) for r in sick) for what in ("found", "line", "cause", "exact")]
        alarms = sum(r.found for r in well)
        lines.append(
            f"| {way} | " + " | ".join(f"{n} of {len(sick)}" for n in counts) + f" | {alarms} of {len(well)} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=HERE / "cases")
    parser.add_argument("--only", default="", help="names of cases, with commas")
    parser.add_argument("--ways", default=",".join(WAYS), help="tools, with commas")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=180.0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    wanted = set(filter(None, options.only.split(",")))
    cases = [
        c for c in sorted(options.folder.iterdir()) if (c / "truth.json").exists() and (not wanted or c.name in wanted)
    ]
    ways = [way for way in WAYS if any(way.startswith(asked) for asked in options.ways.split(","))]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        jobs = [pool.submit(examine, case, way, options.timeout) for case in cases for way in ways]
        rows = [job.result() for job in jobs]
    print(table(rows, ways))
    if options.json:
        options.json.write_text(json.dumps([{**asdict(row), "exact": row.exact} for row in rows], indent=1))


if __name__ == "__main__":
    main()
