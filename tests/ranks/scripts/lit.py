import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(8, 1)

    def training_step(self, batch, index):
        x, y = batch
        scale = torch.log(x[:, :1]).abs()
        return ((self.net(x) - y).pow(2) * scale).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.001)


if __name__ == "__main__":
    lightning.seed_everything(0)
    rows = torch.rand(64, 8) + 0.5
    rows[37, 0] = -1.0
    loader = DataLoader(TensorDataset(rows, rows.sum(1, keepdim=True)), batch_size=4)
    trainer = lightning.Trainer(
        accelerator="cpu",
        devices=2,
        strategy="ddp",
        max_epochs=1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(Net(), loader)
