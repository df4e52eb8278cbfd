"""`torchmedic.watch` in a script of one's own: as a block, as a call, and where there is something to let pass."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import torchmedic
from torchmedic import in_process
from torchmedic.launch.parent import new_run_folder
from torchmedic.probes.events.modes import may_put_on


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Training:
    """A model and the loop that trains it; sick from a step on."""

    def __init__(self, sick_from: int = 10**9) -> None:
        torch.manual_seed(0)
        self.model = nn.Linear(4, 1)
        self.optimizer = torch.optim.Adam(self.model.parameters())
        self.sick_from = sick_from
        self.done = 0

    def run(self, steps: int = 6) -> None:
        x = torch.rand(16, 4)
        for step in range(1, steps + 1):
            out = self.model(x)
            loss = torch.log(out * 0).mean() if step >= self.sick_from else out.pow(2).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.done = step

    @property
    def is_finite(self) -> bool:
        return all(bool(p.isfinite().all()) for p in self.model.parameters())


def test_a_healthy_block(capsys: pytest.CaptureFixture[str]) -> None:
    with torchmedic.watch() as medic:
        Training().run()
    assert medic.verdict is not None
    assert medic.verdict.outcome == "healthy"
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "healthy, 6 optimizer steps watched; report: .torchmedic" in said.err


def test_a_sick_block_is_left_with_good_weights(here: Path) -> None:
    training = Training(sick_from=4)
    with torchmedic.watch(quiet=True) as medic:
        training.run()
    assert training.done == 3
    assert training.is_finite
    assert medic.verdict is not None
    first = medic.verdict.diagnoses[0]
    assert first.code == "NUM002"
    assert first.where is not None
    assert first.where.source.strip().startswith("loss = torch.log(out * 0)")
    assert "error[NUM002]" in str(medic)
    assert 'stopped the run in step 4; `on_sick="continue"` lets it go on' in str(medic)
    assert medic.folder is not None
    assert (medic.folder / "report.html").exists()


def test_a_run_may_go_on() -> None:
    training = Training(sick_from=4)
    with torchmedic.watch(quiet=True, on_sick="skip") as medic:
        training.run()
    assert training.done == 6
    assert training.is_finite
    assert medic.verdict is not None
    assert medic.verdict.diagnoses[0].code == "NUM002"
    assert "skipped 3 of 6 steps: 4, 5, 6" in str(medic)


def test_the_samples_of_skipped_steps_are_named() -> None:
    x = torch.rand(40, 4)
    x[[7, 23, 24], 1] = torch.nan
    training = Training()
    with torchmedic.watch(quiet=True, on_sick="skip") as medic:
        for (rows,) in DataLoader(TensorDataset(x), batch_size=5):
            loss = training.model(rows).pow(2).mean()
            training.optimizer.zero_grad()
            loss.backward()
            training.optimizer.step()
    assert training.is_finite
    assert "skipped 2 of 8 steps: 2, 5; bad values in samples 7, 23, 24" in str(medic)


def test_a_step_of_two_optimizers_is_skipped_once() -> None:
    one, two = Training(), Training()
    with torchmedic.watch(quiet=True, on_sick="skip") as medic:
        for step in range(1, 7):
            for training in (one, two):
                out = training.model(torch.rand(16, 4))
                loss = torch.log(out * 0).mean() if step in (3, 5) else out.pow(2).mean()
                training.optimizer.zero_grad()
                loss.backward()
                training.optimizer.step()
    assert one.is_finite
    assert two.is_finite
    assert "skipped 2 of 6 steps: 3, 5" in str(medic)


def test_a_run_that_goes_on_with_all_its_updates_skips_nothing() -> None:
    with torchmedic.watch(quiet=True, on_sick="continue") as medic:
        Training(sick_from=4).run()
    assert "skipped" not in str(medic)


def test_an_exception_passes_through_and_is_explained() -> None:
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"), torchmedic.watch(quiet=True) as medic:
        nn.Linear(4, 1)(torch.rand(2, 5))
    assert medic.verdict is not None
    assert medic.verdict.outcome == "crashed"
    assert medic.verdict.diagnoses[0].code == "ERR002"


def fail_after_a_step() -> None:
    Training().run(steps=1)
    nn.functional.cross_entropy(torch.rand(4, 2), torch.zeros(3, dtype=torch.int64))


def test_an_exception_does_not_show_how_it_was_listened_to() -> None:
    with pytest.raises(ValueError, match="batch_size") as caught, torchmedic.watch(quiet=True):
        fail_after_a_step()
    assert [entry.name for entry in caught.traceback][1:] == ["fail_after_a_step", "cross_entropy"]


def test_as_a_call() -> None:
    medic = torchmedic.watch(quiet=True)
    assert medic.is_on
    Training().run()
    verdict = medic.stop()
    assert verdict is not None
    assert verdict.info.steps == 6
    assert not medic.is_on
    assert medic.stop() is verdict


def test_an_exception_that_ends_the_script_is_explained_at_its_end(here: Path) -> None:
    (here / "train.py").write_text(
        "import torch, torchmedic\nmedic = torchmedic.watch()\ntorch.nn.Linear(4, 1)(torch.rand(2, 5))\n"
    )
    done = subprocess.run([sys.executable, "train.py"], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1
    told = done.stderr.partition("RuntimeError: ")[2]
    assert "error[ERR002]" in told
    assert "train.py:3" in told


def test_two_runs_of_one_second_lie_side_by_side(here: Path) -> None:
    folders = [new_run_folder(["notebook"]) for _ in range(3)]
    assert {folder.parent for folder in folders} == {here / ".torchmedic"}


def test_everything_is_put_back() -> None:
    before = (torch.autograd.backward, torch.optim.Optimizer.__init__, nn.Module.__init__, os._exit)
    with torchmedic.watch(quiet=True):
        assert torch.autograd.backward is not before[0]
        Training().run(2)
    assert (torch.autograd.backward, torch.optim.Optimizer.__init__, nn.Module.__init__, os._exit) == before


def test_an_unknown_wish_is_refused() -> None:
    with pytest.raises(ValueError, match="on_sick is one of stop, skip, continue, not 'bogus'"):
        torchmedic.watch(on_sick="bogus")  # type: ignore[arg-type]


def test_an_inner_watch_leaves_the_outer_one_alone(capsys: pytest.CaptureFixture[str]) -> None:
    with torchmedic.watch(quiet=True) as outer:
        with torchmedic.watch() as inner:
            Training().run(2)
        assert capsys.readouterr().err.startswith("torchmedic: a watch is running already")
        assert inner.verdict is None
        assert outer.is_on
    assert outer.verdict is not None
    assert outer.verdict.info.steps == 2


def test_a_model_built_before_is_known_by_name() -> None:
    training = Training(sick_from=2)
    with torchmedic.watch(quiet=True) as medic:
        training.run()
    assert "`weight`" in str(medic)


@pytest.mark.parametrize("broken", ["install_probes", "examine"])
def test_a_fault_of_ours_is_one_line(
    broken: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fail(*_args: object, **_kwargs: object) -> None:
        raise RuntimeError("injected fault")

    before = torch.autograd.backward
    monkeypatch.setattr(in_process, broken, fail)
    with torchmedic.watch() as medic:
        Training().run(2)
    assert medic.verdict is None
    assert torch.autograd.backward is before
    said = capfd.readouterr().err
    assert said.count("\n") == 1
    assert "injected fault" in said


def test_under_torchmedic_run_it_does_nothing(here: Path) -> None:
    (here / "train.py").write_text(
        "import torchmedic\nwith torchmedic.watch() as medic:\n    print(medic.is_on, medic.verdict)\n"
    )
    command = [sys.executable, "-m", "torchmedic", "run", "train.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout == "False None\n"


@pytest.mark.parametrize("sick_from", [2, 3, 4, 5])
def test_nothing_is_left_on_wherever_the_step_was_sick(sick_from: int) -> None:
    """Exams and trials put modes on; whichever of them is on at the sick step, none outlives the block."""
    with torchmedic.watch():
        Training(sick_from).run()
    assert torch._C._len_torch_function_stack() == 0


def test_a_default_device_does_not_switch_exams_off() -> None:
    torch.set_default_device("cpu")
    try:
        assert may_put_on()
        with torch.overrides.TorchFunctionMode():
            assert not may_put_on()
    finally:
        torch.set_default_device(None)
