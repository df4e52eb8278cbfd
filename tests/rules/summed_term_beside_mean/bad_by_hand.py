import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(640, 5) @ torch.randn(5, 30)
encoder = nn.Sequential(nn.Linear(30, 32), nn.ReLU(), nn.Linear(32, 8))
decoder = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 30))
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=2e-3)
prior = torch.distributions.Normal(torch.zeros(4), torch.ones(4))
beta = 0.5
for epoch in range(14):
    total = 0.0
    for batch in x[torch.randperm(640)].split(64):
        mean, spread = encoder(batch).chunk(2, dim=1)
        posterior = torch.distributions.Normal(mean, nn.functional.softplus(spread) + 1e-3)
        error = (decoder(posterior.rsample()) - batch).pow(2).mean()
        kl = torch.distributions.kl_divergence(posterior, prior).sum()  # expect: LOS100
        loss = error + beta * kl
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / 10:.3f}")
