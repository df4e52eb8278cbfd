import torch
import torch.nn as nn


class Embedder(nn.Module):
    def __init__(self, n_in=20, n_out=8):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(n_in, 64), nn.ReLU(), nn.Linear(64, n_out))

    def forward(self, x):
        return self.layers(x)


def pairwise(z):
    diff = z.unsqueeze(1) - z.unsqueeze(0)
    return diff.pow(2).sum(dim=2).sqrt()


def batch_hard(dist, labels, margin=1.0):
    same = labels.unsqueeze(0) == labels.unsqueeze(1)
    hardest_pos = (dist * same).max(dim=1).values
    hardest_neg = (dist + 1e4 * same).min(dim=1).values
    return torch.relu(hardest_pos - hardest_neg + margin).mean()


def train_step(model, optimizer, x, labels):
    model.train()
    optimizer.zero_grad()
    dist = pairwise(model(x))
    loss = batch_hard(dist, labels)
    loss.backward()
    optimizer.step()
    return loss.item()


def sample(centers, n=48):
    labels = torch.randint(0, len(centers), (n,))
    return centers[labels] + 0.6 * torch.randn(n, centers.shape[1]), labels


if __name__ == "__main__":
    torch.manual_seed(6)
    centers = torch.randn(10, 20)
    model = Embedder()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(200):
        loss = train_step(model, optimizer, *sample(centers))
        if step < 3 or step % 50 == 49:
            print(f"step {step:3d} triplet loss {loss:.4f}")
