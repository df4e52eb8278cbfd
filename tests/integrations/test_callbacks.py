"""`Medic` and `EarlyStopping` as callbacks, in a process that nobody else watches."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset


@pytest.fixture(autouse=True)
def _quiet_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    warnings.simplefilter("ignore")


# The frameworks are imported when these tests run, not when they are collected: all other tests would carry them too.
@pytest.fixture
def small() -> Any:
    from tests.integrations import trainings

    return trainings


@pytest.fixture
def lightning() -> Any:
    from torchmedic.integrations import lightning

    return lightning


@pytest.fixture
def huggingface() -> Any:
    from torchmedic.integrations import huggingface

    return huggingface


@pytest.mark.parametrize(("in_list", "codes"), [(False, []), (True, ["WIR001"])])
def test_medic_judges_a_lightning_training(small: Any, lightning: Any, in_list: bool, codes: list[str]) -> None:
    medic = lightning.Medic(quiet=True)
    small.trainer(medic).fit(small.Net(in_list), small.loader())
    assert medic.verdict is not None
    assert [d.code for d in medic.verdict.diagnoses if d.severity != "hint"] == codes


def test_lightning_drops_sick_batches_and_goes_on(small: Any, lightning: Any) -> None:
    medic, model = lightning.Medic(on_sick="skip", quiet=True), small.SickNow(in_list=False)
    small.trainer(medic).fit(model, small.loader())
    assert all(bool(weight.isfinite().all()) for weight in model.parameters())
    assert medic.verdict is not None
    first = medic.verdict.diagnoses[0]
    assert first.family == "numerics"
    assert any("the update was not applied" in note for note in first.evidence)


def test_early_stopping_stops_lightning_and_restores_the_best_weights(
    small: Any, lightning: Any, tmp_path: Path
) -> None:
    model, stopping = small.Net(in_list=False), lightning.EarlyStopping(patience=2)
    trainer = small.trainer(stopping, epochs=20)
    trainer.fit(model, small.loader(), DataLoader(TensorDataset(torch.zeros(4, 8)), batch_size=4))
    assert (trainer.current_epoch, stopping.stopping.best_epoch) == (3, 1)
    kept = stopping.state_dict()["weights"]
    assert all(torch.equal(value, kept[name]) for name, value in model.state_dict().items())
    trainer.save_checkpoint(tmp_path / "last.ckpt")
    saved = torch.load(tmp_path / "last.ckpt", weights_only=False)["callbacks"]
    assert any(state.get("best_epoch") == 1 for state in saved.values())


def test_a_metric_that_is_not_logged_is_named(small: Any, lightning: Any) -> None:
    with pytest.raises(RuntimeError, match="`val_acc` was not logged; logged are: val_loss"):
        small.trainer(lightning.EarlyStopping("val_acc")).fit(small.Net(in_list=False), small.loader(), small.loader())


@pytest.mark.parametrize(("in_list", "codes"), [(False, []), (True, ["WIR001"])])
def test_medic_judges_a_transformers_training(
    small: Any, huggingface: Any, in_list: bool, codes: list[str], tmp_path: Path
) -> None:
    medic = huggingface.Medic(quiet=True)
    settings = small.arguments(tmp_path, num_train_epochs=3, save_strategy="no")
    small.tuner(model=small.Plain(in_list), args=settings, callbacks=[medic]).train()
    assert medic.verdict is not None
    assert [d.code for d in medic.verdict.diagnoses if d.severity != "hint"] == codes


def test_early_stopping_stops_transformers_and_goes_on_after_a_restart(
    small: Any, huggingface: Any, tmp_path: Path
) -> None:
    stopping = huggingface.EarlyStopping(patience=2, mode="max")
    settings = small.arguments(
        tmp_path, num_train_epochs=20, learning_rate=1e-2, eval_strategy="epoch", save_strategy="epoch"
    )
    model = small.Plain(in_list=False)
    trainer = small.tuner(model=model, args=settings, eval_dataset=small.Rows(), callbacks=[stopping])
    trainer.train()
    # A loss that falls is ever worse in mode "max": the first evaluation is the best one.
    assert (trainer.state.epoch, stopping.stopping.best_epoch) == (3.0, 1)
    again = huggingface.EarlyStopping(patience=2, mode="max")
    again._resumed = stopping.state()["attributes"]["_resumed"]
    again.on_train_begin(settings, trainer.state, trainer.control)
    assert (again.stopping.best, again.stopping.best_epoch) == (stopping.stopping.best, 1)
    again.stopping.restore(model)
    assert (tmp_path / "torchmedic-best.safetensors").exists()
