"""How each tool is asked about a case: the command that is run, and the answer that is read out of what it leaves."""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from bench.detecting.cases import Answer
from bench.detecting.peers import PEERS, python_with

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


class Driver:
    """A process that has imported torch and a tool, and runs one case after the other in forks of itself."""

    def __init__(self, name: str, python: str = sys.executable) -> None:
        self._process = subprocess.Popen(
            [python, str(DRIVERS / f"under_{name}.py")],
            env=dict(os.environ, OMP_NUM_THREADS="1"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._lock = threading.Lock()

    def run(self, work: Path, seconds: float) -> Ended:
        """Run a case; what its tool found is in `told.json` beside its folder."""
        errors = work.parent / "errors.txt"
        order = {"work": str(work), "told": str(told_in(work)), "errors": str(errors), "seconds": seconds}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._lock:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
            reply = self._process.stdout.readline()
        if not reply:
            raise RuntimeError("the driver of a tool has ended")
        said = errors.read_text(errors="replace") if errors.exists() else ""
        return Ended(work, said, json.loads(reply)["is_late"])


def told_in(work: Path) -> Path:
    return work.parent / "told.json"


@functools.cache
def driver(name: str) -> Driver:
    return Driver(name, str(python_with(name.replace("_", "-"))) if name.replace("_", "-") in PEERS else sys.executable)


def ask_torchmedic(work: Path, seconds: float) -> Answer:
    """By its command line, as a user would."""
    report = work.parent / "report.json"
    command = [sys.executable, "-m", "torchmedic", "run", "--json", str(report), "train.py"]
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    try:
        subprocess.run(command, cwd=work, env=environment, capture_output=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return Answer(failure="ran out of time")
    if not report.exists():
        return Answer(failure="no report")
    loud = [d for d in json.loads(report.read_text())["diagnoses"] if d["severity"] != "hint"]
    if not loud:
        return Answer()
    where = loud[0].get("where") or {}
    return Answer(where.get("file") or "", where.get("line") or 0, json.dumps(loud[0]), loud[0]["code"][:3])


def ask_python(work: Path, seconds: float) -> Answer:
    return from_traceback(driver("nothing").run(work, seconds))


def ask_anomaly_mode(work: Path, seconds: float) -> Answer:
    """Its answer is the forward call that it blames; without one, the traceback is all that the user gets."""
    ended = driver("anomaly_mode").run(work, seconds)
    blamed = _ANOMALY.search(ended.errors)
    if blamed is None:
        return from_traceback(ended)
    return replace(_pointing_at(blamed.group(), work), words=blamed.group() + _last_line(ended.traceback))


def ask_peer(name: str, work: Path, seconds: float) -> Answer:
    """Its first finding, together with the traceback that Python prints anyway: the best that its user can have."""
    ended = driver(name).run(work, seconds)
    plain = from_traceback(ended)
    if not told_in(work).exists():
        return replace(plain, failure=plain.failure or "ended without an answer")
    told = json.loads(told_in(work).read_text())
    first = told["findings"][0] if told["findings"] else ""
    return replace(plain, words=f"{first} {plain.words}".strip(), failure=told["failure"])


def tools() -> dict[str, Callable[[Path, float], Answer]]:
    """Every tool by name, torchmedic first."""
    peers = {peer: functools.partial(ask_peer, peer.replace("-", "_")) for peer in PEERS}
    return {
        "torchmedic": ask_torchmedic,
        "plain Python": ask_python,
        "anomaly mode": ask_anomaly_mode,
        "DebugUnderflowOverflow": functools.partial(ask_peer, "overflow_detector"),
        **peers,
    }


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
