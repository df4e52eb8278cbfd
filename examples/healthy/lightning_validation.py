"""Lightning: the loop is out of sight, validation runs in between, lr warms up from 0 by a per-step scheduler."""
import logging
import warnings

import lightning as L
import torch
from torch import nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore", message=".*does not have many workers.*")


class Digits(L.LightningModule):
    def __init__(self, warm=20):
        super().__init__()
        self.warm = warm
        self.net = nn.Sequential(nn.Linear(64, 128), nn.BatchNorm1d(128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 10))
        self.history = []
        self.hits = 0

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self.net(x), y)
        self.log("train_loss", loss)
        return loss

    def on_validation_epoch_start(self):
        self.hits = 0

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.hits += (self.net(x).argmax(1) == y).sum().item()

    def on_validation_epoch_end(self):
        self.history.append(self.hits / 397)

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters(), lr=3e-3)
        sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, s / self.warm))
        return {"optimizer": opt, "lr_scheduler": {"scheduler": sched, "interval": "step"}}


def main():
    L.seed_everything(0, verbose=False)
    d = load_digits()
    x, y = torch.tensor(d.data / 16.0, dtype=torch.float32), torch.tensor(d.target)
    perm = torch.randperm(len(x))
    train = DataLoader(TensorDataset(x[perm[:1400]], y[perm[:1400]]), batch_size=70, shuffle=True)
    val = DataLoader(TensorDataset(x[perm[1400:]], y[perm[1400:]]), batch_size=397)
    model = Digits()
    trainer = L.Trainer(max_epochs=4, accelerator="cpu", logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0,
                        gradient_clip_val=1.0)
    trainer.fit(model, train, val)
    for epoch, acc in enumerate(model.history):
        print(f"epoch {epoch} val acc {acc:.3f}")
    print(f"final val accuracy {model.history[-1]:.3f} train loss {trainer.callback_metrics['train_loss']:.3f}")


if __name__ == "__main__":
    main()
