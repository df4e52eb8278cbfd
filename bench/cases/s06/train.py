import logging
import warnings
import lightning as L
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class LitAutoEncoder(L.LightningModule):
    def __init__(self, dim=24, latent=4, lr=3e-3):
        super().__init__()
        self.lr = lr
        self.encoder = nn.Sequential(nn.Linear(dim, 32), nn.ReLU(), nn.Linear(32, latent))
        self.decoder = nn.Sequential(nn.Linear(latent, 32), nn.ReLU(), nn.Linear(32, dim))
        self.seen = []

    def training_step(self, batch, batch_idx):
        (x,) = batch
        rec = self.decoder(self.encoder(x))
        loss = F.mse_loss(rec, x)
        self.seen.append(loss.item())
        return loss

    def validation_step(self, batch, batch_idx):
        (x,) = batch
        self.log("val_loss", F.mse_loss(self.decoder(self.encoder(x)), x))

    def on_train_epoch_end(self):
        print(f"epoch {self.current_epoch} train mse {sum(self.seen) / len(self.seen):.4f}")
        self.seen.clear()

    def configure_optimizers(self):
        return torch.optim.Adam(self.encoder.parameters(), lr=self.lr)


def signals(n, seed):
    g = torch.Generator().manual_seed(seed)
    basis = torch.randn(4, 24, generator=torch.Generator().manual_seed(9))
    return TensorDataset(torch.randn(n, 4, generator=g) @ basis + 0.05 * torch.randn(n, 24, generator=g))


L.seed_everything(1, verbose=False)
trainer = L.Trainer(max_epochs=8, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
model = LitAutoEncoder()
trainer.fit(model, DataLoader(signals(1600, 1), batch_size=32, shuffle=True), DataLoader(signals(400, 2), batch_size=100))
print("final val mse", round(float(trainer.callback_metrics["val_loss"]), 4))
