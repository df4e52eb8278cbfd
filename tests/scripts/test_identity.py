"""Losses, weights and random numbers are bit for bit those of the bare run."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.scripts.twice import only_run, twice

IDENTITY = Path(__file__).parent / "identity"
SCRIPTS = sorted(path.name for path in IDENTITY.glob("*.py") if path.name != "digest.py")


@pytest.mark.parametrize("script", SCRIPTS)
def test_watching_changes_no_bit(tmp_path: Path, script: str) -> None:
    folder = tmp_path / "work"
    shutil.copytree(IDENTITY, folder, ignore=shutil.ignore_patterns("__pycache__"))
    bare, watched = twice([script], folder)
    assert bare.status == 0, bare.stderr.decode()
    assert (watched.status, watched.stdout) == (0, bare.stdout), watched.stderr.decode()
    assert only_run(folder).info.steps > 0


def test_six_kinds_of_training_are_compared() -> None:
    assert set(SCRIPTS) >= {"mlp.py", "cnn.py", "lstm.py", "transformer.py", "graph.py", "lit.py"}


def test_one_bit_would_be_noticed(tmp_path: Path) -> None:
    """The digest itself: a weight that differs in its last bit gives another one."""
    import torch

    namespace: dict[str, object] = {}
    exec((IDENTITY / "digest.py").read_text(), namespace)
    said: list[object] = []
    namespace["print"] = lambda *words: said.append(words)
    model = torch.nn.Linear(2, 2)
    show = namespace["show"]
    assert callable(show)
    show([1.0], model)
    with torch.no_grad():
        model.weight.view(torch.int32)[0, 0] ^= 1
    show([1.0], model)
    assert said[0] != said[1]
