"""The sick update is not applied: weights, state and the rest of the run are what they would have been without it."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from tests.running import run_bare

SCRIPT = """
import sys
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 1))
opt = torch.optim.{optimizer}
x = torch.randn(200, 4)
scale = torch.ones(200)
scale[{sick}] = 0.0
stop = int(sys.argv[1]) if len(sys.argv) > 1 else 10 ** 9
for step, i in enumerate(range(0, 200, 20)):
    if step == stop:
        break
    if i == 0:
        torch.randn(1)
    loss = (net(x[i:i + 20]) / scale[i:i + 20, None]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, bool(torch.isfinite(loss)))
torch.save([net.state_dict(), opt.state_dict()], "end.pt")
"""
SICK_STEP = 5


def digest(state: dict[str, torch.Tensor]) -> str:
    parts = [name.encode() + tensor.numpy().tobytes() for name, tensor in sorted(state.items())]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def run_by_command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "torchmedic", "run", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    "optimizer",
    ["Adam(net.parameters(), lr=1e-2)", "SGD(net.parameters(), lr=1e-2, momentum=0.9, nesterov=True)"],
    ids=["adam", "sgd"],
)
def test_saved_weights_and_state_are_those_before_the_sick_step(tmp_path: Path, optimizer: str) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.format(optimizer=optimizer, sick=SICK_STEP * 20 + 3))
    run_bare(script, str(SICK_STEP))
    weights, state = torch.load(tmp_path / "end.pt")

    watched = run_by_command(tmp_path, "train.py")

    assert watched.returncode == 1
    folder = next((tmp_path / ".torchmedic").glob("2*"))
    saved = load_file(next(folder.glob("weights-before-step-*.safetensors")))
    assert digest(saved) == digest(weights)
    kept = torch.load(next(folder.glob("optimizers-before-step-*.pt")))[0]["state"]
    assert kept.keys() == state["state"].keys()
    for parameter, values in state["state"].items():
        for name, value in values.items():
            assert torch.equal(torch.as_tensor(kept[parameter][name]), torch.as_tensor(value)), name
    assert [line.split()[0] for line in watched.stdout.splitlines()] == [str(i) for i in range(SICK_STEP)]
    shown = run_bare(folder / "repro.py")
    assert "all finite: False" in shown.stdout, shown.stderr


def test_continue_leaves_the_run_as_it_would_have_been(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.format(optimizer="Adam(net.parameters(), lr=1e-2)", sick=SICK_STEP * 20 + 3))
    bare = run_bare(script)
    expected = torch.load(tmp_path / "end.pt")[0]

    watched = run_by_command(tmp_path, "--on-sick", "continue", "--json", "o.json", "train.py")

    assert watched.stdout == bare.stdout
    assert digest(torch.load(tmp_path / "end.pt")[0]) == digest(expected)
    found = json.loads((tmp_path / "o.json").read_text())["diagnoses"][0]
    assert found["step"] == SICK_STEP + 1
    assert any("the update was applied all the same" in note for note in found["evidence"])
    assert not any("withheld" in innocent["how"] for innocent in found["ruled_out"])


def test_skip_drops_the_sick_update_and_goes_on_with_good_weights(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.format(optimizer="Adam(net.parameters(), lr=1e-2)", sick=SICK_STEP * 20 + 3))

    watched = run_by_command(tmp_path, "--on-sick", "skip", "train.py")

    assert watched.returncode == 0, watched.stderr
    assert [line.split()[1] for line in watched.stdout.splitlines()] == [str(i != SICK_STEP) for i in range(10)]
    end = torch.load(tmp_path / "end.pt")[0]
    assert all(bool(torch.isfinite(t).all()) for name, t in end.items() if "running" not in name)


OVERFLOWING = """
import sys
import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
opt = torch.optim.{optimizer}
stop = int(sys.argv[1]) if len(sys.argv) > 1 else 10 ** 9
for step in range(8):
    if step == stop:
        break
    {before}
    loss = (net(torch.ones(2, 4)) * {factor}).pow(2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
torch.save(net.state_dict(), "end.pt")
"""
_RISING = "opt.param_groups[0]['lr'] = 1e38 if step == 3 else 1e-3"


@pytest.mark.parametrize(
    ("optimizer", "before", "factor", "bad_step"),
    [("SGD(net.parameters(), lr=1e-3)", _RISING, "3.0", 3), ("Adam(net.parameters(), eps=0)", "pass", "0.0", 0)],
    ids=["rate-too-large", "no-epsilon"],
)
def test_an_update_that_overflows_is_undone(
    tmp_path: Path, optimizer: str, before: str, factor: str, bad_step: int
) -> None:
    """Gradients are finite, the weights after the update are not: those before it come back bit for bit."""
    (tmp_path / "train.py").write_text(OVERFLOWING.format(optimizer=optimizer, before=before, factor=factor))
    run_bare(tmp_path / "train.py", str(bad_step))
    expected = torch.load(tmp_path / "end.pt")

    watched = run_by_command(tmp_path, "--json", "o.json", "train.py")

    assert watched.returncode == 1, watched.stderr
    assert json.loads((tmp_path / "o.json").read_text())["diagnoses"][0]["code"] == "NUM028"
    folder = next((tmp_path / ".torchmedic").glob("2*"))
    assert digest(load_file(next(folder.glob("weights-before-step-*.safetensors")))) == digest(expected)
