import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Frames(Dataset):
    """8x8 camera crops; the lamp of the rig was off in some frames."""

    def __init__(self, n=960):
        g = torch.Generator().manual_seed(0)
        self.label = torch.randint(0, 2, (n,), generator=g)
        noise = torch.randint(0, 60, (n, 8, 8), generator=g)
        noise[self.label == 1, 2:6, 2:6] += 90
        noise[torch.rand(n, generator=g) < 0.004] = 0
        self.pixels = noise.to(torch.uint8)

    def __len__(self):
        return len(self.label)

    def __getitem__(self, i):
        img = self.pixels[i].float()
        img = (img - img.mean()) / img.std()
        return img.unsqueeze(0), self.label[i]


class LampNet(L.LightningModule):
    def __init__(self, lr=1e-3):
        super().__init__()
        self.lr = lr
        self.net = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(32, 2))
        self.seen = []

    def training_step(self, batch, batch_idx):
        img, label = batch
        loss = nn.functional.cross_entropy(self.net(img), label)
        self.seen.append(loss.item())
        return loss

    def on_train_epoch_end(self):
        print(f"epoch {self.current_epoch} mean loss {sum(self.seen) / len(self.seen):.4f}")
        self.seen.clear()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.lr)


if __name__ == "__main__":
    L.seed_everything(1, verbose=False)
    trainer = L.Trainer(max_epochs=3, accelerator="cpu", logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(LampNet(), DataLoader(Frames(), batch_size=32, shuffle=True))
