"""How each tool is asked about a case: the command that is run, and the answer that is read out of what it leaves."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from bench.detecting.cases import Answer
from bench.detecting.peers import PEERS, NotInstallable, python_with

DRIVERS = Path(__file__).resolve().parent / "drivers"
_ANOMALY = re.compile(r"Error detected in \w+\. Traceback of forward call.*?(?=\n\n|\Z)", re.DOTALL)
_FRAME = re.compile(r'File "([^"]+)", line (\d+)')


@dataclass(frozen=True)
class Ended:
    """A process that ran in the folder of a case."""

    folder: Path
    errors: str
    is_late: bool

    @property
    def traceback(self) -> str:
        """What Python printed about the exception that ended the script, if one did."""
        begin = self.errors.rfind("Traceback (most recent call last)")
        return self.errors[begin:] if begin >= 0 else ""


def ask_torchmedic(work: Path, seconds: float) -> Answer:
    report = work.parent / "report.json"
    _run([sys.executable, "-m", "torchmedic", "run", "--json", str(report), "train.py"], work, seconds)
    if not report.exists():
        return Answer(failure="no report")
    loud = [d for d in json.loads(report.read_text())["diagnoses"] if d["severity"] != "hint"]
    if not loud:
        return Answer()
    where = loud[0].get("where") or {}
    return Answer(where.get("file") or "", where.get("line") or 0, json.dumps(loud[0]), loud[0]["code"][:3])


def ask_python(work: Path, seconds: float) -> Answer:
    return from_traceback(_run([sys.executable, "train.py"], work, seconds))


def ask_anomaly_mode(work: Path, seconds: float) -> Answer:
    """Its answer is the forward call that it blames; without one, the traceback is all that the user gets."""
    ended = _run([sys.executable, str(DRIVERS / "under_anomaly_mode.py")], work, seconds)
    blamed = _ANOMALY.search(ended.errors)
    if blamed is None:
        return from_traceback(ended)
    return replace(_pointing_at(blamed.group(), work), words=blamed.group() + _last_line(ended.traceback))


def ask_overflow_detector(work: Path, seconds: float) -> Answer:
    return _ask_driver(sys.executable, "overflow_detector", work, seconds)


def ask_peer(peer: str, work: Path, seconds: float) -> Answer:
    try:
        python = python_with(peer)
    except NotInstallable as reason:
        return Answer(failure=f"does not install: {reason}")
    return _ask_driver(str(python), peer.replace("-", "_"), work, seconds)


def tools() -> dict[str, Callable[[Path, float], Answer]]:
    """Every tool by name, torchmedic first."""
    peers = {peer: (lambda work, seconds, peer=peer: ask_peer(peer, work, seconds)) for peer in PEERS}
    return {
        "torchmedic": ask_torchmedic,
        "plain Python": ask_python,
        "anomaly mode": ask_anomaly_mode,
        "DebugUnderflowOverflow": ask_overflow_detector,
        **peers,
    }


def _ask_driver(python: str, driver: str, work: Path, seconds: float) -> Answer:
    """Its first finding, together with the traceback that Python prints anyway: the best that its user can have."""
    told = work.parent / "told.json"
    ended = _run([python, str(DRIVERS / f"under_{driver}.py"), str(told)], work, seconds)
    if not told.exists():
        return replace(from_traceback(ended), failure="ended without an answer")
    answer = json.loads(told.read_text())
    plain = from_traceback(ended)
    first = answer["findings"][0] if answer["findings"] else ""
    return replace(plain, words=f"{first} {plain.words}".strip(), failure=answer["failure"])


def _run(command: list[str], work: Path, seconds: float) -> Ended:
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    try:
        done = subprocess.run(
            command, cwd=work, env=environment, capture_output=True, text=True, errors="replace", timeout=seconds
        )
    except subprocess.TimeoutExpired:
        return Ended(work, "", is_late=True)
    return Ended(work, done.stderr, is_late=False)


def from_traceback(ended: Ended) -> Answer:
    """The innermost line of the case's own files in a traceback; silence where there is none."""
    if ended.is_late:
        return Answer(failure="ran out of time")
    if not ended.traceback:
        return Answer()
    return replace(_pointing_at(ended.traceback, ended.folder), words=_last_line(ended.traceback))


def _pointing_at(text: str, work: Path) -> Answer:
    own = [(file, int(line)) for file, line in _FRAME.findall(text) if (work / Path(file).name).exists()]
    file, line = own[-1] if own else ("", 0)
    return Answer(Path(file).name, line)


def _last_line(text: str) -> str:
    return text.strip().splitlines()[-1] if text.strip() else ""
