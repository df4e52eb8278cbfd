"""A recent change of the guilty line is told; an old one, or no repository, is not."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from torchmedic.facts import Location
from torchmedic.history import recent_change

DAY = 86_400


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=someone", "-c", "user.email=someone@example.org"]
    return subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def script(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    path = tmp_path / "train.py"
    path.write_text("a = 1\nb = a / 0\n")
    git(tmp_path, "add", "train.py")
    git(tmp_path, "commit", "-qm", "Divide by nothing")
    return path


def test_a_recent_commit_is_named(script: Path) -> None:
    note = recent_change(Location(file=str(script), line=2))
    assert note is not None
    assert git(script.parent, "rev-parse", "HEAD")[:9] in note
    assert "Divide by nothing" in note
    assert "today" in note


def test_an_uncommitted_line_is_told_as_such(script: Path) -> None:
    script.write_text("a = 1\nb = a / 2\n")
    assert recent_change(Location(file=str(script), line=2)) == (
        "this line is not committed yet: it changed since the last commit"
    )


def test_an_old_commit_is_not_told(script: Path) -> None:
    import time

    assert recent_change(Location(file=str(script), line=2), now=time.time() + 60 * DAY) is None


def test_outside_a_repository_nothing_is_told(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("a = 1\n")
    assert recent_change(Location(file=str(tmp_path / "train.py"), line=1)) is None
