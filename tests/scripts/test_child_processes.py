"""Processes that a script starts: what they die of is noted, and one that does its work is as it would be bare."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.running import run_watched
from tests.scripts.twice import twice
from torchmedic.probes.crash.child_crashes import _MOST_NOTES

METHODS = ("fork", "spawn", "forkserver")
# What a child sees of itself, and how it leaves.
_HEALTHY = """\
import multiprocessing, os, sys, warnings
import torch

def work(end, given):
    of_us = sorted(name for name in os.environ if "MEDIC" in name)
    end.send([given * 2, of_us, os.environ.get("PYTHONPATH"), sys.path[1:], sys.argv[1:], warnings.filters])
    sys.exit(given)

if __name__ == "__main__":
    of = multiprocessing.get_context(sys.argv[1])
    for given in (3, 4):
        ours, theirs = of.Pipe()
        child = of.Process(target=work, args=(theirs, given), name="worker")
        child.start()
        theirs.close()
        print(ours.recv(), child.name)
        child.join()
        print(child.exitcode, sorted(name for name in os.environ if "MEDIC" in name))
"""
_UNREADABLE = """\
import multiprocessing
import torch

if __name__ == "__main__":
    def work(end):
        end.send(1)

    of = multiprocessing.get_context("{method}")
    ours, theirs = of.Pipe()
    of.Process(target=work, args=(theirs,)).start()
    theirs.close()
    ours.recv()
"""
# A pool starts a process in place of each that could not begin.
_AGAIN_AND_AGAIN = """\
import multiprocessing, time
import torch

def work(end):
    raise ValueError("no such camera")

if __name__ == "__main__":
    of = multiprocessing.get_context("fork")
    children = [of.Process(target=work, args=(None,)) for _ in range({many})]
    for child in children:
        child.start()
    for child in children:
        child.join()
    ours, theirs = of.Pipe()
    theirs.close()
    ours.recv()
"""


@pytest.mark.parametrize("method", METHODS)
def test_a_child_that_does_its_work_is_untouched(tmp_path: Path, method: str) -> None:
    (tmp_path / "train.py").write_text(_HEALTHY)
    bare, watched = twice(["train.py", method], tmp_path)
    assert bare.status == 0, bare.stderr.decode()
    assert (watched.status, watched.stdout, watched.stderr) == (0, bare.stdout, bare.stderr)


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_what_keeps_a_child_from_beginning_is_told(tmp_path: Path, method: str) -> None:
    script = tmp_path / "train.py"
    script.write_text(_UNREADABLE.format(method=method))
    watched = run_watched(script)
    (told,) = watched.verdict.unexplained
    assert told.startswith("AttributeError: Can't get attribute 'work' on <module '__mp_main__'")


def test_a_few_notes_are_enough(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(_AGAIN_AND_AGAIN.format(many=_MOST_NOTES + 3))
    watched = run_watched(script)
    assert watched.verdict.unexplained == ("ValueError: no such camera",)
