"""Ranks that wait for each other for ever are told of in less than half a minute, with the settings as they are."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "scripts" / "hanging.py"
# With how many ranks, and what it is called. A worker that dies is an exception on its rank, not a hang.
KINDS = {
    "barrier": (4, "RNK005"),
    "order": (2, "RNK006"),
    "fork": (2, "RNK017"),
    "file": (2, "RNK017"),
    "held": (2, "RNK017"),
    "thread": (2, "RNK017"),
    "worker": (2, "ERR034"),
}


def _line(mark: str) -> int:
    """The line of the script that is marked so."""
    lines = SCRIPT.read_text().splitlines()
    word, _, kind = mark.partition(": ")
    return next(n for n, line in enumerate(lines, start=1) if re.search(rf"# {word}: (?:\w+ )*{kind}\b", line))


@pytest.fixture(scope="module")
def hanging(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[Path, subprocess.Popen[str]]]]:
    """All of them at once: they mostly wait."""
    started = {}
    for kind, (world, _) in KINDS.items():
        folder = tmp_path_factory.mktemp(kind)
        shutil.copy(SCRIPT, folder / "train.py")
        with (folder / "said").open("w") as said:
            started[kind] = (
                folder,
                subprocess.Popen(
                    [sys.executable, "-m", "torchmedic", "run", "train.py", kind, str(world)],
                    cwd=folder,
                    stdout=subprocess.DEVNULL,
                    stderr=said,
                    text=True,
                    start_new_session=True,
                    env={**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "200"},
                ),
            )
    yield started
    for _, process in started.values():
        for pid in _session(process.pid):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        process.wait(timeout=60)


def _session(leader: int) -> list[int]:
    """The processes that a command has started, those that outlive it included."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError, ValueError):
            if int((entry / "stat").read_text().rpartition(")")[2].split()[3]) == leader:
                found.append(int(entry.name))
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at through /proc")
@pytest.mark.parametrize("kind", KINDS)
def test_a_hang_is_named_with_the_line_of_each_rank(
    kind: str, hanging: dict[str, tuple[Path, subprocess.Popen[str]]]
) -> None:
    folder, process = hanging[kind]
    said, code = folder / "said", KINDS[kind][1]
    until = time.monotonic() + 240
    while f"torchmedic explain {code}" not in said.read_text() and time.monotonic() < until:
        time.sleep(0.2)
    text = said.read_text()
    assert f"error[{code}]" in text, text
    began = max(float(file.read_text()) for file in folder.glob("began-*"))
    assert said.stat().st_mtime - began < 30
    assert f"--> train.py:{_line(f'here: {kind}')} " in text, text
    if kind == "barrier":
        assert "which ranks 0, 1 and 3 never call" in text
    if kind == "fork":
        assert f"train.py:{_line('takes: fork')} " in text, "where the lock was taken that the worker got a copy of"
    if kind == "file":
        assert "the lock on `cache.lock` is held by this very rank" in text
    if kind == "thread":
        assert "rank 1 waits for a thread that died of ValueError, and rank 0 waits for it" in text
    if kind == "held":
        assert "the lock on `cache.lock` is held by rank 0, which keeps it while it waits for the others" in text
    if kind != "worker":
        assert f"train.py:{_line(f'waits: {kind}')} " in text, text
        assert process.poll() is None, "a run that hangs is left alone"
