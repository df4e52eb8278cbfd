import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class FactorizationMachine(nn.Module):
    def __init__(self, n_users, n_items, k=8):
        super().__init__()
        self.n_users = n_users
        self.bias = nn.Parameter(torch.zeros(1))
        self.linear = nn.Embedding(n_users + n_items, 1)
        self.V = torch.randn(n_users + n_items, k).mul_(0.1).requires_grad_()
        nn.init.zeros_(self.linear.weight)

    def forward(self, user, item):
        item = item + self.n_users
        lin = self.linear(user) + self.linear(item)
        inter = (self.V[user] * self.V[item]).sum(1, keepdim=True)
        return (self.bias + lin + inter).squeeze(1)


def ratings(n=8000, n_users=60, n_items=40, seed=0):
    g = torch.Generator().manual_seed(seed)
    pu, qi = torch.randn(n_users, 3, generator=g), torch.randn(n_items, 3, generator=g)
    u = torch.randint(0, n_users, (n,), generator=g)
    i = torch.randint(0, n_items, (n,), generator=g)
    r = 3.0 + 0.3 * pu[u, 0] + (pu[u] * qi[i]).sum(1) + 0.2 * torch.randn(n, generator=g)
    return u, i, r


torch.manual_seed(0)
u, i, r = ratings()
train_set, test_set = TensorDataset(u[:6500], i[:6500], r[:6500]), (u[6500:], i[6500:], r[6500:])
loader = DataLoader(train_set, batch_size=128, shuffle=True)
fm = FactorizationMachine(60, 40)
optimizer = torch.optim.Adam(fm.parameters(), lr=0.02)
mse = nn.MSELoss()
for epoch in range(8):
    total = 0.0
    for user, item, rating in loader:
        optimizer.zero_grad()
        loss = mse(fm(user, item), rating)
        loss.backward()
        optimizer.step()
        total += loss.item()
    with torch.no_grad():
        rmse = mse(fm(*test_set[:2]), test_set[2]).sqrt()
    print(f"epoch {epoch} train mse {total / len(loader):.4f} test rmse {rmse:.4f}")
