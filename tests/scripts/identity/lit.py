"""A Lightning module with validation, a scheduler and clipping."""

import logging
import warnings

import lightning
import torch
from digest import show
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.simplefilter("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Net(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 16), nn.Dropout(0.1), nn.ReLU(), nn.Linear(16, 1))
        self.seen = []

    def training_step(self, batch, _):
        x, y = batch
        loss = nn.functional.mse_loss(self.body(x).squeeze(1), y)
        self.seen.append(loss.detach())
        return loss

    def validation_step(self, batch, _):
        x, y = batch
        self.seen.append(nn.functional.mse_loss(self.body(x).squeeze(1), y))

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=1e-2)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1)]


lightning.seed_everything(6, verbose=False)
data = TensorDataset(torch.randn(64, 6), torch.randn(64))
trainer = lightning.Trainer(
    max_epochs=3,
    accelerator="cpu",
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
    gradient_clip_val=0.5,
)
model = Net()
trainer.fit(model, DataLoader(data, batch_size=16, shuffle=True), DataLoader(data, batch_size=32))
show(model.seen, model)
