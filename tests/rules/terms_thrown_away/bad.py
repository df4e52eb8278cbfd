import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


def total_loss(answer, target, code, weight=1e-3):
    loss = F.mse_loss(answer, target)
    loss += 0.1 * F.l1_loss(answer, target)
    if weight:
        loss = weight * code.pow(2).mean()  # expect: LOS075
    return loss


encoder, decoder = nn.Linear(8, 4), nn.Linear(4, 8)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-2)
for step in range(60):
    x = torch.randn(32, 8)
    code = encoder(x)
    loss = total_loss(decoder(code), x, code)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.5f}, reconstruction {F.mse_loss(decoder(code), x).item():.3f}")
