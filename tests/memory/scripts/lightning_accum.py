"""A Lightning module with accumulated gradients, 16-bit precision, validation and a checkpoint callback."""

try:
    import lightning.pytorch as L
except ImportError:
    import pytorch_lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Mixer(nn.Module):
    def __init__(self, patches=196, dim=256):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.tokens = nn.Sequential(nn.Linear(patches, 256), nn.GELU(), nn.Linear(256, patches))
        self.channels = nn.Sequential(nn.Linear(dim, 1024), nn.GELU(), nn.Linear(1024, dim))

    def forward(self, x):
        x = x + self.tokens(self.n1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channels(self.n2(x))


class Classifier(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2d(3, 256, 16, stride=16)
        self.blocks = nn.Sequential(*[Mixer() for _ in range(8)])
        self.head = nn.Linear(256, 100)
        self.loss = nn.CrossEntropyLoss(label_smoothing=0.1)

    def forward(self, x):
        return self.head(self.blocks(self.patch(x).flatten(2).transpose(1, 2)).mean(1))

    def training_step(self, batch, _):
        x, y = batch
        loss = self.loss(self(x), y)
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, _):
        x, y = batch
        logits = self(x)
        self.log_dict({"val_loss": self.loss(logits, y), "val_acc": (logits.argmax(1) == y).float().mean()})

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters(), lr=1e-3)
        return {"optimizer": opt, "lr_scheduler": torch.optim.lr_scheduler.StepLR(opt, 1)}


if __name__ == "__main__":
    L.seed_everything(0)
    data = TensorDataset(torch.randn(128, 3, 224, 224), torch.randint(0, 100, (128,)))
    train = DataLoader(data, batch_size=16, shuffle=True, num_workers=2, persistent_workers=True)
    val = DataLoader(data, batch_size=32)
    trainer = L.Trainer(
        max_epochs=1,
        accelerator="gpu",
        devices=1,
        precision="16-mixed",
        accumulate_grad_batches=2,
        gradient_clip_val=1.0,
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        callbacks=[L.callbacks.ModelCheckpoint(monitor="val_loss", mode="min", dirpath="ckpt")],
    )
    trainer.fit(Classifier(), train, val)
