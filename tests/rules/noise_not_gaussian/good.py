import torch
from torch import nn

STEPS = 40
left = torch.cumprod(1 - torch.linspace(1e-3, 0.2, STEPS), 0)


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.time = nn.Embedding(STEPS, 32)
        self.first, self.last = nn.Linear(2, 32), nn.Linear(32, 2)

    def forward(self, x, t):
        return self.last(torch.relu(self.first(x) + self.time(t)))


torch.manual_seed(0)
angle = 6.28 * torch.rand(2000)
data = torch.stack([angle.cos(), angle.sin()], 1)
model = Denoiser()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(4):
    for rows in torch.randperm(2000).split(100):
        x = data[rows]
        t = torch.randint(0, STEPS, (len(x),))
        noise = torch.randn_like(x)
        keep = left[t].unsqueeze(1)
        noisy = keep.sqrt() * x + (1 - keep).sqrt() * noise
        loss = nn.functional.mse_loss(model(noisy, t), noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
