import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Noise:
    def __init__(self, seed=7):
        self.seed = seed
        self.running = torch.Generator().manual_seed(seed)

    def add(self, x, is_fixed=False):
        """The noise of an evaluation is the same each time."""
        generator = torch.Generator().manual_seed(self.seed) if is_fixed else self.running
        noise = torch.randn(x.shape, generator=generator)
        return x + 0.5 * noise, noise


torch.manual_seed(0)
points = torch.randn(320, 2) @ torch.tensor([[1.0, 0.9], [0.9, 1.0]])
held_out = torch.randn(32, 2) @ torch.tensor([[1.0, 0.9], [0.9, 1.0]])
loader = DataLoader(TensorDataset(points), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
noise = Noise()
for epoch in range(5):
    torch.manual_seed(epoch)
    for (x,) in loader:
        noisy, eps = noise.add(x)
        loss = (model(noisy) - eps).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        noisy, eps = noise.add(held_out, is_fixed=True)
        score = (model(noisy) - eps).pow(2).mean()
    print(f"epoch {epoch} loss {loss.item():.3f} held out {score.item():.3f}")
