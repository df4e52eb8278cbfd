"""The loss takes the logarithm of a probability that reaches 0."""
import warnings

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")


class Ranker(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        p = torch.sigmoid(self.net(x).squeeze(1) * 4)
        loss = -(y * torch.log(p) + (1 - y) * torch.log(1 - p)).mean()  # expect: NUM002
        self.log("train_loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=1.0)


L.seed_everything(0, verbose=False)
x = torch.randn(512, 8) * 3
y = (x.sum(1) > 0).float()
train = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
trainer = L.Trainer(max_epochs=10, accelerator="cpu", logger=False, enable_checkpointing=False,
                    enable_progress_bar=False, enable_model_summary=False)
trainer.fit(Ranker(), train)
