"""A baseline is measured in evaluation mode before the training, and the mode is never set back."""
import warnings

import lightning as L
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")


class Classifier(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 3))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self.net(x), y)
        self.log("train_loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-2)


L.seed_everything(0, verbose=False)
x = torch.randn(512, 8)
y = x[:, :3].argmax(1)
train = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
model = Classifier()
model.eval()  # expect: WIR021
with torch.no_grad():
    print("before", (model.net(x).argmax(1) == y).float().mean().item() < 0.9)
trainer = L.Trainer(max_epochs=3, accelerator="cpu", logger=False, enable_checkpointing=False,
                    enable_progress_bar=False, enable_model_summary=False)
trainer.fit(model, train)
