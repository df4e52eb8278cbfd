"""The pytest plugin in a pytest of its own: sick trainings fail their tests, healthy ones pass."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import pytest, torch
from torch import nn

def train(sick=False, steps=3):
    torch.manual_seed(0)
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x = torch.rand(16, 4)
    for step in range(steps):
        y = model(x)
        loss = torch.log(y * 0).mean() if sick else (y ** 2).mean()
        optimizer.zero_grad(); loss.backward(); optimizer.step()

def test_healthy(medic):
    train()

def test_sick(medic):
    train(sick=True)

@pytest.mark.medic
def test_marked_sick():
    train(sick=True)

@pytest.mark.medic
def test_marked_healthy():
    train()

@pytest.mark.medic(allow=["log-of-zero"])
def test_allowed():
    train(sick=True)

@pytest.mark.medic
def test_crash():
    nn.Linear(4, 1)(torch.rand(2, 5))

def test_expected(medic):
    with pytest.raises(SystemExit):
        train(sick=True)
    assert medic.stop().diagnoses[0].code == "NUM002"

def test_not_watched():
    train(sick=True)

@pytest.mark.medic(fail_on="sometimes")
def test_wrong_level():
    train()

@pytest.mark.medic(on_sick="explode")
def test_wrong_wish():
    train()

@pytest.mark.medic(alow=["log-of-zero"])
def test_wrong_keyword():
    train()

@pytest.mark.medic(allow=["log-of-one"])
def test_wrong_rule():
    train()
"""


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("plugin")
    (folder / "test_training.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "-p", "no:randomly", "test_training.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("name", "ended"),
    [
        ("test_healthy", "PASSED"),
        ("test_sick", "FAILED"),
        ("test_marked_sick", "FAILED"),
        ("test_marked_healthy", "PASSED"),
        ("test_allowed", "PASSED"),
        ("test_crash", "FAILED"),
        ("test_expected", "PASSED"),
        ("test_not_watched", "PASSED"),
        ("test_wrong_level", "FAILED"),
        ("test_wrong_wish", "FAILED"),
        ("test_wrong_keyword", "FAILED"),
        ("test_wrong_rule", "FAILED"),
    ],
)
def test_each_test_ends_as_its_training_does(outcome: str, name: str, ended: str) -> None:
    assert re.search(rf"::{name} {ended}", outcome), outcome


def test_the_failure_is_the_diagnosis_and_names_the_line(outcome: str) -> None:
    assert "the training in this test is sick: NUM002" in outcome
    assert "--> test_training.py:12 in train" in outcome


def test_a_crash_is_explained_beside_its_traceback(outcome: str) -> None:
    assert "error[ERR002]" in outcome


@pytest.mark.parametrize(
    "line",
    [
        "`fail_on` of the mark `medic` is one of error, warning, not 'sometimes'",
        "`on_sick` of the mark `medic` is one of stop, skip, continue, not 'explode'",
        "the mark `medic` knows fail_on, allow, on_sick, not 'alow'",
        "`allow` of the mark `medic` names no rule: 'log-of-one'",
    ],
)
def test_a_wrong_mark_is_said_in_one_line(outcome: str, line: str) -> None:
    assert line in outcome


def test_the_plugin_does_not_import_torch(tmp_path: Path) -> None:
    code = "import sys, torchmedic.integrations.pytest_plugin; raise SystemExit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
