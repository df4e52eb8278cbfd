import torch
from torch import nn


class Pooling(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.gate, self.score = nn.Linear(size, 16), nn.Linear(16, 1)

    def forward(self, bag):
        scores = self.score(torch.tanh(self.gate(bag)))
        weights = torch.softmax(scores, dim=2)  # expect: WIR073
        return (weights * bag).sum(1)


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
