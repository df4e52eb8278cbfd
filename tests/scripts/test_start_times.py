"""The start is timed, the patches are gone after the first step, and imports are told without overlap."""

from __future__ import annotations

import importlib
import socket
import sys
import time
from pathlib import Path

import pytest
import torch

from tests.running import run_watched
from torchmedic.facts import StartUp
from torchmedic.probes.course.start_times import ImportTimes

_TRAIN = """
import socket, torch
patched = socket.socket.connect.__module__, torch.load.__module__
net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    net(torch.ones(3, 2)).sum().backward()
    optimizer.step()
print("connect" in vars(socket.socket), socket.getaddrinfo.__code__.co_filename == socket.__file__)
print("start_times" in torch.load.__code__.co_filename)
"""


@pytest.fixture
def timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ImportTimes:
    """Times imports from a folder with an outer package that imports an inner one."""
    (tmp_path / "outer_pkg_x.py").write_text("import time\nimport inner_pkg_x\ntime.sleep(0.05)\n")
    (tmp_path / "inner_pkg_x.py").write_text("import time\ntime.sleep(0.1)\n")
    (tmp_path / "broken_pkg_x.py").write_text("raise ValueError('mine')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    finder = ImportTimes()
    monkeypatch.setattr(sys, "meta_path", [finder, *sys.meta_path])
    return finder


def test_packages_are_timed_without_those_they_import(timed: ImportTimes) -> None:
    importlib.import_module("outer_pkg_x")
    assert 0.05 <= timed.own["outer_pkg_x"] < 0.1 <= timed.own["inner_pkg_x"]
    module = sys.modules["outer_pkg_x"]
    assert module.__spec__ is not None
    assert "exec_module" not in vars(module.__spec__.loader)


def test_a_failing_import_fails_with_its_own_frames(timed: ImportTimes) -> None:
    with pytest.raises(ValueError, match="mine") as caught:
        importlib.import_module("broken_pkg_x")
    assert not any("probes" in str(entry.path) for entry in caught.traceback)


def test_everything_is_put_back_after_the_first_step(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(_TRAIN)
    connect, load = socket.socket.connect, torch.load
    watched = run_watched(script)
    assert watched.stdout == "False True\nFalse\n", watched.stderr
    start = watched.run.first(StartUp)
    assert start is not None
    assert start.reached_step
    assert (socket.socket.connect, torch.load) == (connect, load)


def test_waits_are_kept_by_host(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "import socket\n"
        "for _ in range(2):\n"
        "    try:\n"
        "        socket.create_connection(('127.0.0.1', 9), timeout=1)\n"
        "    except OSError as error:\n"
        "        print(type(error).__name__)\n"
    )
    began = time.perf_counter()
    watched = run_watched(script)
    assert watched.stdout == "ConnectionRefusedError\n" * 2
    start = watched.run.first(StartUp)
    assert start is not None
    assert not start.reached_step
    assert start.seconds <= time.perf_counter() - began
    assert start.waits == ()
