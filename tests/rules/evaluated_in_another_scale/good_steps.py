# Under Lightning: the validation lacks augmentation only, and says its scale in another way.
import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Chain:
    def __init__(self, *steps):
        self.steps = steps

    def __call__(self, x):
        for step in self.steps:
            x = step(x)
        return x


class Standardize:
    def __init__(self, mean, std):
        self.mean, self.std = mean, std

    def __call__(self, x):
        return (x - self.mean) / self.std


def random_noise(x):
    return x + 2 * torch.randn_like(x)


def to_common_scale(x):
    return (x - 130) / 16


class Spectra(Dataset):
    def __init__(self, samples, prepare):
        self.y, self.prepare = torch.randint(0, 3, (samples,)), prepare
        peak = (torch.linspace(0, 1, 30) - 0.25 * (1 + self.y[:, None])).square()
        self.x = 120 + 40 * torch.exp(-peak / 0.01) + 8 * torch.randn(samples, 30)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.prepare(self.x[i]), self.y[i]


class Net(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(30, 32), nn.ReLU(), nn.Linear(32, 3))

    def training_step(self, batch, _):
        return nn.functional.cross_entropy(self.net(batch[0]), batch[1])

    def validation_step(self, batch, _, dataloader_idx=0):
        self.log("right", (self.net(batch[0]).argmax(1) == batch[1]).float().mean())

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


torch.manual_seed(0)
quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False, "enable_model_summary": False}
training = Chain(random_noise, Standardize(130, 15))
for checking in (Chain(Standardize(130, 15)), Chain(to_common_scale)):
    trainer = lightning.Trainer(max_epochs=2, accelerator="cpu", **quiet)
    parts = [DataLoader(Spectra(320, training), batch_size=32, shuffle=True), DataLoader(Spectra(96, checking), 32)]
    trainer.fit(Net(), *parts)
    print(trainer.callback_metrics["right"])
