"""The interval of the schedule lies one level too high: Lightning does not read it there."""

import warnings

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")


class Classifier(L.LightningModule):
    def __init__(self, batches):
        super().__init__()
        self.batches = batches
        self.net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))

    def training_step(self, batch, _):
        return nn.functional.cross_entropy(self.net(batch[0]), batch[1])

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        plan = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=self.batches)  # expect: WIR024
        return {"optimizer": optimizer, "lr_scheduler": plan, "interval": "step"}


L.seed_everything(0, verbose=False)
x = torch.randn(512, 8)
loader = DataLoader(TensorDataset(x, (x @ torch.randn(8, 3)).argmax(1)), batch_size=32, shuffle=True)
trainer = L.Trainer(
    max_epochs=4,
    accelerator="cpu",
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
trainer.fit(Classifier(4 * len(loader)), loader)
print("trained")
