import torch
from torch import nn


class Denoiser(nn.Module):
    def __init__(self, steps=50, width=64):
        super().__init__()
        self.time = nn.Embedding(steps, 16)
        self.net = nn.Sequential(nn.Linear(18, width), nn.SiLU(), nn.Linear(width, 2))

    def forward(self, x, t):
        return self.net(torch.cat([x, self.time(t)], dim=1))


torch.manual_seed(0)
keep = torch.linspace(0.999, 0.02, 50)
data = torch.randn(1280, 1) * torch.tensor([[1.0, 0.5]])
model = Denoiser()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(2):
    for rows in torch.randperm(1280).split(32):
        x, t = data[rows], torch.randint(0, 50, (32,))
        noise = torch.randn_like(x)
        part = keep[t].unsqueeze(1)
        answer = model(part.sqrt() * x + (1 - part).sqrt() * noise, t)
        loss = nn.functional.mse_loss(answer, torch.randn_like(x))  # expect: LOS065
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
