"""`Medic` and `EarlyStopping` as callbacks, in a process that nobody else watches."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import lightning as L
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset
from transformers import Trainer, TrainingArguments

from torchmedic.integrations import huggingface, lightning


@pytest.fixture(autouse=True)
def _quiet_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    warnings.simplefilter("ignore")


class _Net(L.LightningModule):
    def __init__(self, in_list: bool) -> None:
        super().__init__()
        blocks = [nn.Linear(8, 8), nn.Linear(8, 8)]
        self.blocks = blocks if in_list else nn.ModuleList(blocks)
        self.head = nn.Linear(8, 3)
        self.worse = 0.0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = torch.relu(block(x))
        return self.head(x)

    def training_step(self, batch: Any, batch_idx: int) -> torch.Tensor:
        return F.cross_entropy(self(batch[0]), batch[1])

    def validation_step(self, batch: Any, batch_idx: int) -> None:
        self.worse += 1.0
        self.log("val_loss", self.worse)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.parameters(), lr=1e-2)


def _loader() -> DataLoader[Any]:
    x = torch.randn(96, 8, generator=torch.Generator().manual_seed(0))
    return DataLoader(TensorDataset(x, x[:, :3].argmax(1)), batch_size=16)


def _lightning(callback: Any, epochs: int = 2) -> L.Trainer:
    return L.Trainer(
        max_epochs=epochs, accelerator="cpu", logger=False, enable_checkpointing=False, num_sanity_val_steps=0,
        enable_progress_bar=False, enable_model_summary=False, callbacks=[callback],
    )  # fmt: skip


@pytest.mark.parametrize(("in_list", "codes"), [(False, []), (True, ["WIR001"])])
def test_medic_judges_a_lightning_training(in_list: bool, codes: list[str]) -> None:
    medic = lightning.Medic(quiet=True)
    _lightning(medic).fit(_Net(in_list), _loader())
    assert medic.verdict is not None
    assert [d.code for d in medic.verdict.diagnoses if d.severity != "hint"] == codes


class _SickNow(_Net):
    """Three batches that make the loss infinite, one of them the first."""

    def training_step(self, batch: Any, batch_idx: int) -> torch.Tensor:
        loss = super().training_step(batch, batch_idx)
        return loss + torch.log(loss.detach() * 0) * loss if batch_idx in (0, 2, 4) else loss


def test_lightning_drops_sick_batches_and_goes_on() -> None:
    medic, model = lightning.Medic(on_sick="skip", quiet=True), _SickNow(in_list=False)
    _lightning(medic).fit(model, _loader())
    assert all(bool(weight.isfinite().all()) for weight in model.parameters())
    assert medic.verdict is not None
    first = medic.verdict.diagnoses[0]
    assert first.family == "numerics"
    assert any("the update was not applied" in note for note in first.evidence)


def test_early_stopping_stops_lightning_and_restores_the_best_weights(tmp_path: Path) -> None:
    model, stopping = _Net(in_list=False), lightning.EarlyStopping(patience=2)
    trainer = _lightning(stopping, epochs=20)
    trainer.fit(model, _loader(), DataLoader(TensorDataset(torch.zeros(4, 8)), batch_size=4))
    assert (trainer.current_epoch, stopping.stopping.best_epoch) == (3, 1)
    kept = stopping.state_dict()["weights"]
    assert all(torch.equal(value, kept[name]) for name, value in model.state_dict().items())
    trainer.save_checkpoint(tmp_path / "last.ckpt")
    saved = torch.load(tmp_path / "last.ckpt", weights_only=False)["callbacks"]
    assert any(state.get("best_epoch") == 1 for state in saved.values())


def test_a_metric_that_is_not_logged_is_named() -> None:
    with pytest.raises(RuntimeError, match="`val_acc` was not logged; logged are: val_loss"):
        _lightning(lightning.EarlyStopping("val_acc")).fit(_Net(in_list=False), _loader(), _loader())


class _Rows(Dataset[Any]):
    def __len__(self) -> int:
        return 64

    def __getitem__(self, i: int) -> dict[str, Any]:
        x = torch.randn(8, generator=torch.Generator().manual_seed(i))
        return {"x": x, "labels": x[:3].argmax()}


class _Plain(nn.Module):
    def __init__(self, in_list: bool) -> None:
        super().__init__()
        heads = [nn.Linear(8, 3)]
        self.body = nn.Linear(8, 8)
        self.heads = heads if in_list else nn.ModuleList(heads)

    def forward(self, x: torch.Tensor, labels: torch.Tensor) -> dict[str, torch.Tensor]:
        logits = self.heads[0](torch.relu(self.body(x)))
        return {"loss": F.cross_entropy(logits, labels), "logits": logits}


def _arguments(out: Path, **more: Any) -> TrainingArguments:
    return TrainingArguments(
        str(out), per_device_train_batch_size=16, report_to=[], disable_tqdm=True, use_cpu=True, **more
    )


@pytest.mark.parametrize(("in_list", "codes"), [(False, []), (True, ["WIR001"])])
def test_medic_judges_a_transformers_training(in_list: bool, codes: list[str], tmp_path: Path) -> None:
    medic = huggingface.Medic(quiet=True)
    settings = _arguments(tmp_path, num_train_epochs=3, save_strategy="no")
    Trainer(model=_Plain(in_list), args=settings, train_dataset=_Rows(), callbacks=[medic]).train()
    assert medic.verdict is not None
    assert [d.code for d in medic.verdict.diagnoses if d.severity != "hint"] == codes


def test_early_stopping_stops_transformers_and_goes_on_after_a_restart(tmp_path: Path) -> None:
    stopping = huggingface.EarlyStopping(patience=2, mode="max")
    settings = _arguments(
        tmp_path, num_train_epochs=20, learning_rate=1e-2, eval_strategy="epoch", save_strategy="epoch"
    )
    model = _Plain(in_list=False)
    trainer = Trainer(model=model, args=settings, train_dataset=_Rows(), eval_dataset=_Rows(), callbacks=[stopping])
    trainer.train()
    # A loss that falls is ever worse in mode "max": the first evaluation is the best one.
    assert (trainer.state.epoch, stopping.stopping.best_epoch) == (3.0, 1)
    again = huggingface.EarlyStopping(patience=2, mode="max")
    again._resumed = stopping.state()["attributes"]["_resumed"]
    again.on_train_begin(settings, trainer.state, trainer.control)
    assert (again.stopping.best, again.stopping.best_epoch) == (stopping.stopping.best, 1)
    again.stopping.restore(model)
    assert (tmp_path / "torchmedic-best.safetensors").exists()
