import torch

torch.manual_seed(0)
x = torch.randn(50, 3)
y = x @ torch.tensor([1.0, -2.0, 0.5])
weights = torch.zeros(3, requires_grad=True)
for step in range(5):
    loss = ((x @ weights - y) ** 2).mean()
    loss.backward()
    weights -= 0.1 * weights.grad  # expect: ERR013
    weights.grad = None
print(loss.item())
