import torch

torch.manual_seed(0)
w1 = (torch.randn(8, 16) * 0.3).requires_grad_()
w2 = (torch.randn(16, 1) * 0.2).requires_grad_()
rate = 0.05
for step in range(40):
    x = torch.randn(64, 8)
    y = x[:, 0] - x[:, 1]
    loss = ((x @ w1).relu() @ w2).squeeze(1).sub(y).square().mean()
    loss.backward()
    with torch.no_grad():
        for w in (w1, w2):
            w -= rate * w.grad
            w.grad = None
    print(f"step {step} loss {loss.item():.3f}")
