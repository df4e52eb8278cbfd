"""A run that hangs is told of while it hangs, and can be asked where it stands."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from torchmedic.facts import Location
from torchmedic.probes.stuck.activity import state
from torchmedic.probes.stuck.stacks import parse_stacks
from torchmedic.probes.stuck.waits import waits_for

SCRIPT = """
import threading
import time

import torch

gate = threading.Lock()
gate.acquire()
print("here", flush=True)
gate.acquire()
"""
WORKER = """
import os
import time

import torch
from torch.utils.data import DataLoader


class Rows:
    def __len__(self):
        return 4

    def __getitem__(self, i):
        print(os.getpid(), flush=True)
        time.sleep(1000)


next(iter(DataLoader(Rows(), num_workers=1)))
"""
_SOON = ["--stuck-after", "1", "--first-step-after", "1"]
_MEDIC = [sys.executable, "-m", "torchmedic"]


@pytest.fixture
def hanging(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    (tmp_path / "hang.py").write_text(SCRIPT)
    command = [*_MEDIC, "run", "--stuck-after", "1", "--first-step-after", "1", "hang.py"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "here\n"
    yield process
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGTERM)
    process.wait(timeout=60)


def _until(process: subprocess.Popen[str], word: str) -> str:
    """Read standard error up to a word; the test's own time limit ends it otherwise."""
    assert process.stderr is not None
    text = ""
    until = time.monotonic() + 90
    while word not in text and time.monotonic() < until:
        text += process.stderr.readline()
    return text


def test_a_hanging_run_is_told_of_and_left_alone(hanging: subprocess.Popen[str]) -> None:
    said = _until(hanging, "torchmedic explain RNK003")
    assert "has stood still for" in said
    assert "hang.py:10" in said
    assert hanging.poll() is None
    asked = subprocess.run(
        [*_MEDIC, "where", str(hanging.pid)], capture_output=True, text=True, timeout=60, check=False
    )
    assert asked.returncode == 0, asked.stderr
    assert "waits for a lock" in asked.stdout
    assert "hang.py:10 in <module>" in asked.stdout
    hanging.terminate()
    assert hanging.wait(timeout=60) == 128 + signal.SIGTERM


def test_a_hang_is_stopped_and_told_of_once(tmp_path: Path) -> None:
    (tmp_path / "hang.py").write_text(SCRIPT)
    command = [*_MEDIC, "run", "--json", "v.json", "--on-stuck", "stop", *_SOON, "hang.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stderr.count("error[RNK003]") == 1
    verdict = json.loads((tmp_path / "v.json").read_text())
    assert (verdict["outcome"], [d["code"] for d in verdict["diagnoses"]]) == ("sick", ["RNK003"])


def test_a_hang_is_stopped_although_nobody_listens(tmp_path: Path) -> None:
    (tmp_path / "hang.py").write_text(WORKER)
    command = [*_MEDIC, "run", "--on-stuck", "stop", *_SOON, "hang.py"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    worker = int(process.stdout.readline())
    process.stdout.close()
    assert process.wait(timeout=60) != 0
    assert state(worker) in ("", "Z"), "no worker is left behind"


def test_where_refuses_a_process_that_is_not_watched() -> None:
    for pid in (os.getpid(), 2**22 + 7):
        asked = subprocess.run([*_MEDIC, "where", str(pid)], capture_output=True, text=True, timeout=60, check=False)
        assert asked.returncode == 2
        assert asked.stderr.count("\n") == 1


def _at(file: str, function: str, source: str = "") -> Location:
    return Location(file=file, line=1, function=function, source=source)


USER = _at("train.py", "main", "lock.acquire()")


@pytest.mark.parametrize(
    ("inner", "user", "kind"),
    [
        ([_at("torch/distributed/distributed_c10d.py", "barrier")], USER, "collective"),
        ([_at("torch/autograd/graph.py", "_engine_run_backward")], USER, "gradients"),
        ([_at("selectors.py", "select"), _at("torch/utils/data/dataloader.py", "_try_get_data")], USER, "loader"),
        ([_at("threading.py", "wait")], USER, "lock"),
        ([_at("subprocess.py", "wait")], USER, "process"),
        ([], USER, "lock"),
        ([], _at("train.py", "main", "time.sleep(100)"), "sleep"),
        ([], _at("train.py", "main", "fcntl.flock(f, fcntl.LOCK_EX)"), "file-lock"),
        ([_at("torch/functional.py", "einsum")], USER, ""),
    ],
)
def test_a_wait_is_told_from_the_stack(inner: list[Location], user: Location, kind: str) -> None:
    assert waits_for((*inner, user), user, in_ddp=True).kind == kind


def test_stacks_of_the_fault_handler_are_read() -> None:
    text = (
        'Thread 0x1 (most recent call first):\n  File "a.py", line 3 in g\n\n'
        'Current thread 0x2 (most recent call first):\n  File "b.py", line 4 in f\n  File "b.py", line 9 in <module>\n'
    )
    other, main = parse_stacks(text)
    assert (main.is_main, [at.line for at in main.stack]) == (True, [4, 9])
    assert (other.is_main, other.stack[0].function) == (False, "g")
