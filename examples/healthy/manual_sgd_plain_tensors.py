"""No nn.Module, no optimizer: a dict of leaf tensors updated in place under no_grad, momentum kept by hand."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

g = torch.Generator().manual_seed(0)
xa, xb, ya, yb = train_test_split(*load_wine(return_X_y=True), test_size=0.3, random_state=0, stratify=load_wine().target)
mu, sd = xa.mean(0), xa.std(0)
x, xt = (torch.tensor((v - mu) / sd, dtype=torch.float32) for v in (xa, xb))
y, yt = torch.tensor(ya), torch.tensor(yb)


def leaf(*shape, scale):
    return (scale * torch.randn(*shape, generator=g)).requires_grad_(True)


w = {
    "w1": leaf(13, 24, scale=13**-0.5),
    "b1": torch.zeros(24, requires_grad=True),
    "w2": leaf(24, 3, scale=24**-0.5),
    "b2": torch.zeros(3, requires_grad=True),
}
velocity = {k: torch.zeros_like(v) for k, v in w.items()}


def forward(v):
    return torch.tanh(v @ w["w1"] + w["b1"]) @ w["w2"] + w["b2"]


losses = []
for step in range(400):
    loss = F.cross_entropy(forward(x), y)
    loss = loss + 1e-3 * sum(w[k].square().sum() for k in ("w1", "w2"))
    loss.backward()
    with torch.no_grad():
        for k, p in w.items():
            velocity[k].mul_(0.9).add_(p.grad)
            p -= 0.02 * velocity[k]
            p.grad = None
    losses.append(loss.item())
    if step % 80 == 0:
        print(f"step {step} loss {losses[-1]:.4f}")

with torch.no_grad():
    acc = (forward(xt).argmax(1) == yt).float().mean().item()
print(f"final loss {losses[-1]:.4f} (first {losses[0]:.4f}) test accuracy {acc:.3f}")
