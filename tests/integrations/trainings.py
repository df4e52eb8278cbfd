"""Small trainings by Lightning and by transformers, for the callbacks to follow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lightning as L
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset
from transformers import Trainer, TrainingArguments


class Net(L.LightningModule):
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


class SickNow(Net):
    """Three batches that make the loss infinite, one of them the first."""

    def training_step(self, batch: Any, batch_idx: int) -> torch.Tensor:
        loss = super().training_step(batch, batch_idx)
        return loss + torch.log(loss.detach() * 0) * loss if batch_idx in (0, 2, 4) else loss


def loader() -> DataLoader[Any]:
    x = torch.randn(96, 8, generator=torch.Generator().manual_seed(0))
    return DataLoader(TensorDataset(x, x[:, :3].argmax(1)), batch_size=16)


def trainer(callback: Any, epochs: int = 2) -> L.Trainer:
    return L.Trainer(
        max_epochs=epochs, accelerator="cpu", logger=False, enable_checkpointing=False, num_sanity_val_steps=0,
        enable_progress_bar=False, enable_model_summary=False, callbacks=[callback],
    )  # fmt: skip


class Rows(Dataset[Any]):
    def __len__(self) -> int:
        return 64

    def __getitem__(self, i: int) -> dict[str, Any]:
        x = torch.randn(8, generator=torch.Generator().manual_seed(i))
        return {"x": x, "labels": x[:3].argmax()}


class Plain(nn.Module):
    def __init__(self, in_list: bool) -> None:
        super().__init__()
        heads = [nn.Linear(8, 3)]
        self.body = nn.Linear(8, 8)
        self.heads = heads if in_list else nn.ModuleList(heads)

    def forward(self, x: torch.Tensor, labels: torch.Tensor) -> dict[str, torch.Tensor]:
        logits = self.heads[0](torch.relu(self.body(x)))
        return {"loss": F.cross_entropy(logits, labels), "logits": logits}


def arguments(out: Path, **more: Any) -> TrainingArguments:
    return TrainingArguments(
        str(out), per_device_train_batch_size=16, report_to=[], disable_tqdm=True, use_cpu=True, **more
    )


def tuner(**wishes: Any) -> Trainer:
    return Trainer(train_dataset=Rows(), **wishes)
