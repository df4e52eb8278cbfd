"""The test loader is built from the training set."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Waves(Dataset):
    def __init__(self, count, seed):
        generator = torch.Generator().manual_seed(seed)
        self.kind = torch.randint(0, 2, (count,), generator=generator)
        time = torch.linspace(0, 3, 12)
        self.wave = torch.sin(time * (1 + self.kind.unsqueeze(1))) + torch.randn(count, 12, generator=generator)

    def __len__(self):
        return len(self.kind)

    def __getitem__(self, index):
        return self.wave[index], self.kind[index]


torch.manual_seed(0)
train_set = Waves(300, seed=1)
test_set = Waves(100, seed=2)
train_loader = DataLoader(train_set, batch_size=30, shuffle=True)
test_loader = DataLoader(train_set, batch_size=100)  # expect: DAT002
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(3):
    for wave, kind in train_loader:
        loss = nn.functional.cross_entropy(model(wave), kind)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        losses = [nn.functional.cross_entropy(model(wave), kind).item() for wave, kind in test_loader]
    print(f"epoch {epoch} train {loss.item():.3f} test {sum(losses) / len(losses):.3f}")
