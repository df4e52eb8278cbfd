import torch

torch.manual_seed(10)
torch.set_default_dtype(torch.float64)
density = 1 + 99 * torch.rand(16)
target = torch.softmax(torch.randn(16), 0)
amount = torch.nn.Parameter(1 + 49 * torch.rand(16))
optimizer = torch.optim.Adam([amount], lr=0.1)
for step in range(400):
    mass = amount.clamp(0) * density
    loss = torch.nn.functional.mse_loss(mass / mass.sum(), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.6f}")
