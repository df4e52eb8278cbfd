import torch
from torch import nn


def signals(samples, length=20):
    rate = torch.rand(samples) * 3 + 1
    x = torch.sin(2 * torch.pi * rate[:, None] * torch.linspace(0, 1, length))
    return x.unsqueeze(-1) + 0.1 * torch.randn(samples, length, 1), (rate > 2.5).long()


class Classifier(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.gru = nn.GRU(1, width, batch_first=True)
        self.out = nn.Linear(width, 2)

    def forward(self, x):
        return self.out(self.gru(x)[0].mean(1))


torch.manual_seed(0)
x, y = signals(640)
model = Classifier()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(6):
    for rows in torch.randperm(640).split(32):
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1e-5)  # expect: TRN040
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
