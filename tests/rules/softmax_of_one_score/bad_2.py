import torch
from torch import nn


class Pooling(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.gate, self.score = nn.Linear(size, 16), nn.Linear(16, 1)

    def forward(self, bag):
        flat = bag.flatten(0, 1)
        weights = torch.softmax(self.score(torch.tanh(self.gate(flat))), dim=1)  # expect: WIR073
        return (weights * flat).view_as(bag).sum(1)


torch.manual_seed(0)
bags = torch.randn(400, 12, 8)
labels = (bags[..., 0].amax(1) > 1.5).float()
model = nn.Sequential(Pooling(8), nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(6):
    for rows in torch.randperm(400).split(40):
        answers = model(bags[rows]).squeeze(1)
        loss = nn.functional.binary_cross_entropy_with_logits(answers, labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
