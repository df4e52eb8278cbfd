import torch
from torch import nn


class Mixture(nn.Module):
    def __init__(self, size, experts=4, picked=1):
        super().__init__()
        self.picked = picked
        self.router = nn.Linear(size, experts, bias=False)
        self.experts = nn.ModuleList(nn.Linear(size, size) for _ in range(experts))

    def forward(self, x):
        best, which = torch.topk(self.router(x).softmax(-1), self.picked, dim=-1)
        best = best / (best.sum(-1, keepdim=True) + 1e-9)  # expect: WIR210
        answers = torch.stack([expert(x) for expert in self.experts], 1)
        chosen = answers.gather(1, which.unsqueeze(2).expand(-1, -1, x.shape[1]))
        return (chosen * best.unsqueeze(2)).sum(1)


torch.manual_seed(0)
x = torch.randn(512, 8)
y = torch.where(x[:, :1] > 0, x[:, 1:2] * 2, -x[:, 2:3])
model = nn.Sequential(nn.Linear(8, 16), Mixture(16), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(6):
    for rows in torch.randperm(512).split(64):
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
