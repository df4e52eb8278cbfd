import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
encoder = nn.Linear(12, 6)
decoder = nn.Linear(6, 12)
critic = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 1)).requires_grad_(False)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=2e-3)

# Gradients that only weigh a term, as a perceptual autoencoder balances its critic, are constants by design; so is a
# small step along the gradient that makes the input harder.
for step in range(60):
    x = torch.randn(64, 12).requires_grad_(True)
    first = F.mse_loss(decoder(encoder(x)), x.detach())
    harder = x.detach() + 0.05 * torch.autograd.grad(first, x)[0].sign()
    rebuilt = decoder(encoder(harder))
    error = F.mse_loss(rebuilt, x.detach())
    fooling = -critic(rebuilt).mean()
    of_error = torch.autograd.grad(error, decoder.weight, retain_graph=True)[0]
    of_fooling = torch.autograd.grad(fooling, decoder.weight, retain_graph=True)[0]
    balance = (of_error.norm() / (of_fooling.norm() + 1e-4)).clamp(0, 10)
    loss = error + 0.5 * balance * fooling
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        print(f"step {step} error {error.item():.3f} balance {balance.item():.2f}")
