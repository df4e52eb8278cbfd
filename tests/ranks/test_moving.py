"""A rank that moves, however slowly, is not stuck; what moves is told by its variables where its line does not."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
import warnings
import weakref
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from tests.running import rendered, run_watched
from torchmedic.facts import Location
from torchmedic.probes.objects.bindings import bindings
from torchmedic.probes.objects.spreads import tensors_in
from torchmedic.probes.stuck.activity import any_active
from torchmedic.probes.stuck.stacks import of_worker, waits_for_work
from torchmedic.probes.stuck.whereabouts import Whereabouts
from torchmedic.ranks.whereabouts import last_seen

SCRIPTS = Path(__file__).parent / "scripts"


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at through /proc")
def test_ranks_that_wait_for_a_slow_evaluation_are_not_stuck() -> None:
    watched = run_watched(SCRIPTS / "slow_evaluation.py", stuck_after=1.0)
    assert watched.status == 0, watched.stderr
    assert watched.verdict.diagnoses == (), rendered(watched.verdict)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at through /proc")
def test_a_process_that_computes_or_writes_is_active() -> None:
    asleep = subprocess.Popen(["sleep", "30"])
    writing = subprocess.Popen(["dd", "if=/dev/zero", "of=/dev/null", "bs=1k"])
    try:
        assert not any_active([asleep.pid], idle=0.05)
        assert any_active([asleep.pid, writing.pid], idle=0.05)
    finally:
        for process in (asleep, writing):
            process.kill()
            process.wait()


def _looked_at(target: Any) -> list[tuple[Any, ...]]:
    """The marks of a thread's variables at two moments on the same line."""
    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    found = []
    for _ in range(2):
        time.sleep(0.3)
        found.append(bindings(sys._current_frames()[thread.ident or 0]))
    return found


def test_a_loop_with_a_pause_is_seen_to_go_round() -> None:
    def goes_round() -> None:
        for _ in range(20):
            time.sleep(0.1)

    def stands() -> None:
        rows = [1, 2]
        time.sleep(1)
        rows.clear()

    first, second = _looked_at(goes_round)
    assert first != second
    first, second = _looked_at(stands)
    assert first == second != ()


def test_looking_keeps_nothing_alive() -> None:
    kept: list[Any] = []
    go_on = threading.Event()

    def holds() -> None:
        tensor: Any = torch.ones(2)
        kept.append(weakref.ref(tensor))
        time.sleep(0.5)
        del tensor
        go_on.wait(10)

    _looked_at(holds)
    time.sleep(0.2)
    assert kept[0]() is None
    go_on.set()


def test_looking_into_libraries_makes_none_of_them_warn() -> None:
    import torch.distributed as dist

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert list(tensors_in(dist, "dist")) == []
    assert [str(one.message) for one in told] == []


def test_the_file_of_whereabouts_is_left_without_a_warning(tmp_path: Path) -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        probe = Whereabouts()
        recorder: Any = SimpleNamespace(folder=tmp_path)
        probe.install(recorder)
        time.sleep(1.3)
        probe.remove()
        time.sleep(1.2)
        del probe
    assert [one for one in told if one.category is ResourceWarning] == []
    seen = last_seen(tmp_path)
    assert seen is not None
    assert "time.sleep" in seen.source


def _at(file: str, function: str) -> Location:
    return Location(file=file, line=1, function=function)


def test_a_forked_worker_is_not_where_it_was_forked() -> None:
    main = (_at("multiprocessing/process.py", "_bootstrap"), _at("train.py", "<module>"))
    loop = _at("torch/utils/data/_utils/worker.py", "_worker_loop")
    idle = (_at("multiprocessing/queues.py", "get"), loop, *main)
    busy = (_at("train.py", "__getitem__"), _at("torch/utils/data/_utils/fetch.py", "fetch"), loop, *main)
    assert [at.function for at in of_worker(idle) or ()] == ["get"]
    assert [at.function for at in of_worker(busy) or ()] == ["__getitem__", "fetch"]
    assert of_worker(main) is None
    assert waits_for_work(of_worker(idle) or ())
    assert not waits_for_work(of_worker(busy) or ())
