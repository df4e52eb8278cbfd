import torch

torch.manual_seed(0)
x = torch.randn(50, 3)
y = x @ torch.tensor([1.0, -2.0, 0.5])
scale = (torch.randn(3) * 0.1).requires_grad_()
opt = torch.optim.SGD([scale], lr=0.05)
for _ in range(5):
    loss = (x @ scale - y).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
