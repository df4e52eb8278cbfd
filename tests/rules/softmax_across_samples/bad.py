"""Bags of measurements, pooled by learned attention."""
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
bags = torch.randn(256, 12, 5)
labels = (bags[:, :, 0].amax(1) > 1.6).float()
loader = DataLoader(TensorDataset(bags, labels), batch_size=32, shuffle=True)


class Pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(5, 16), nn.Tanh())
        self.score = nn.Linear(16, 1)
        self.out = nn.Linear(16, 1)

    def forward(self, bag):
        h = self.embed(bag)
        weights = torch.softmax(self.score(h), dim=0)  # expect: WIR072
        return self.out((weights * h).sum(1)).squeeze(1)


model = Pool()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(3):
    for x, y in loader:
        loss = F.binary_cross_entropy_with_logits(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
