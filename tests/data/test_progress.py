"""The progress bar: how far the query is, an estimate of the time, and nothing where nobody looks."""

from __future__ import annotations

import io
import re
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from torchmedic.checkups.data.engine import connected
from torchmedic.checkups.data.options import Progress
from torchmedic.cli import _progress


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_long_check_up_draws_its_stage_its_share_and_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = _Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(_progress, "_AFTER", 0.0)
    monkeypatch.setattr(_progress, "_EVERY", 0.01)
    monkeypatch.setenv("TERM", "xterm")
    progress = Progress(sources=1, connection=SimpleNamespace(query_progress=lambda: 42.0))
    until = time.monotonic() + 60
    with _progress.shown(progress), progress.stage("statistics of labs.csv"):
        while "42%" not in screen.getvalue() and time.monotonic() < until:
            time.sleep(0.01)
    drawn = screen.getvalue()
    assert "statistics of labs.csv" in drawn
    assert "42%" in drawn
    assert re.search(r"-:--:--|\d+:\d\d:\d\d", drawn)


def test_nothing_is_drawn_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(_progress, "_AFTER", 0.0)
    with _progress.shown(Progress()):
        pass
    assert screen.getvalue() == ""


def test_the_engine_says_how_far_its_query_is() -> None:
    with connected() as connection:
        seen: list[float] = []
        over, moved = threading.Event(), threading.Event()
        until = time.monotonic() + 60

        def ask() -> None:
            while not over.wait(0.01):
                seen.append(connection.query_progress())
                if seen[-1] > 0:
                    moved.set()
                if moved.is_set() or time.monotonic() > until:
                    connection.interrupt()

        asking = threading.Thread(target=ask)
        asking.start()
        with pytest.raises(Exception, match=r"(?i)interrupt"):
            connection.execute("SELECT sum(hash(a.i + b.i)) FROM range(200000) a(i), range(2000000) b(i)").fetchall()
        over.set()
        asking.join()
    assert moved.is_set()
    assert 0 < max(seen) <= 100
