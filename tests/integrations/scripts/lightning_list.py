"""The hidden layers hang in a plain list, so `self.parameters()` does not hold them."""
import warnings

import lightning as L
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")


class Deep(L.LightningModule):
    def __init__(self, depth=3):
        super().__init__()
        self.inlet = nn.Linear(8, 32)
        self.hidden = [nn.Linear(32, 32) for _ in range(depth)]  # expect: WIR001
        self.outlet = nn.Linear(32, 3)

    def forward(self, x):
        x = F.relu(self.inlet(x))
        for layer in self.hidden:
            x = F.relu(layer(x))
        return self.outlet(x)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self(x), y)
        self.log("train_loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


L.seed_everything(0, verbose=False)
x = torch.randn(512, 8)
y = x[:, :3].argmax(1)
train = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
trainer = L.Trainer(max_epochs=3, accelerator="cpu", logger=False, enable_checkpointing=False,
                    enable_progress_bar=False, enable_model_summary=False)
trainer.fit(Deep(), train)
