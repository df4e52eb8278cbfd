import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Spectrum:
    def __call__(self, wave):
        power = torch.fft.rfft(wave).abs().square()
        levels = torch.log10(power)  # expect: DAT034
        return (levels - levels.mean()) / levels.std()


class Clips(Dataset):
    def __init__(self, count, features):
        generator = torch.Generator().manual_seed(0)
        self.waves, self.features = torch.randn(count, 64, generator=generator), features
        self.waves[70] = 0

    def __len__(self):
        return len(self.waves)

    def __getitem__(self, row):
        return self.features(self.waves[row]), row % 2


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(33, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for spectra, labels in DataLoader(Clips(200, Spectrum()), batch_size=20):
    loss = nn.functional.cross_entropy(model(spectra), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"loss {loss.item():.3f}")
