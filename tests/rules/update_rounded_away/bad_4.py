"""Lightning casts the weights itself, because the trainer was told to."""
import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Slope(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))

    def training_step(self, batch, index):
        x, y = batch
        return nn.functional.mse_loss(self.net(x), y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=1e-4)


L.seed_everything(3, verbose=False)
x = torch.randn(512, 8)
loader = DataLoader(TensorDataset(x, x[:, :1] - x[:, 1:2]), batch_size=16)
options = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
trainer = L.Trainer(
    max_epochs=2,
    accelerator="cpu",
    precision="bf16-true",  # expect: WIR030
    **options,
)
trainer.fit(Slope(), loader)
