"""Siamese embedding with triplet loss: three calls of one network per step, many batches end at a loss of exactly 0."""
import torch
from torch import nn
import torch.nn.functional as F
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split

torch.manual_seed(0)
iris = load_iris()
xa, xb, ya, yb = train_test_split(iris.data, iris.target, test_size=0.3, random_state=1, stratify=iris.target)
mu, sd = xa.mean(0), xa.std(0)
x, xt = (torch.tensor((v - mu) / sd, dtype=torch.float32) for v in (xa, xb))
y, yt = torch.tensor(ya), torch.tensor(yb)
by_class = [(y == c).nonzero().squeeze(1) for c in range(3)]


def triplets(n):
    """Setosa is easy: once it is apart, its triplets add nothing, and that is expected."""
    c = torch.randint(3, (n,))
    other = (c + torch.randint(1, 3, (n,))) % 3
    pick = lambda k: by_class[k][torch.randint(len(by_class[k]), ())]
    a, p = (torch.stack([pick(k) for k in c.tolist()]) for _ in range(2))
    return x[a], x[p], x[torch.stack([pick(k) for k in other.tolist()])]


net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 8))
opt = torch.optim.Adam(net.parameters(), lr=2e-3, weight_decay=1e-4)
run = []
for step in range(1, 401):
    a, p, n = (F.normalize(net(v), dim=1) for v in triplets(24))
    loss = F.relu((a - p).square().sum(1) - (a - n).square().sum(1) + 0.2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    run.append(loss.item())
    if step % 100 == 0:
        zeros = sum(v == 0.0 for v in run[-100:])
        print(f"step {step} loss {sum(run[-100:]) / 100:.4f} batches at exactly 0: {zeros}")

net.eval()
with torch.no_grad():
    ref, query = F.normalize(net(x), dim=1), F.normalize(net(xt), dim=1)
    centre = F.normalize(torch.stack([ref[y == c].mean(0) for c in range(3)]), dim=1)
    acc = ((query @ centre.T).argmax(1) == yt).float().mean().item()
print(f"final nearest-centre accuracy {acc:.3f}")
