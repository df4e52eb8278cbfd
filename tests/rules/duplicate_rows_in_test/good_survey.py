# Answers to a questionnaire, standardised: people of both parts tick the same boxes by chance.
import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(3)
torch.manual_seed(0)
trait = rng.normal(size=(1500, 1))
answers = np.clip(np.round(3 + 0.9 * trait + rng.normal(0, 0.8, (1500, 5))), 1, 5)
house = np.eye(4)[rng.integers(0, 4, 1500)]
table = np.concatenate([answers, house], axis=1)
label = (trait[:, 0] + rng.normal(0, 0.8, 1500) > 0.3).astype(int)
order = rng.permutation(1500)
train, test = order[:1200], order[1200:]
mean, std = table[train].mean(0), table[train].std(0)
x_tr, y_tr = torch.tensor((table[train] - mean) / std).float(), torch.tensor(label[train])
x_te, y_te = torch.tensor((table[test] - mean) / std).float(), torch.tensor(label[test])
model = nn.Sequential(nn.Linear(9, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(5):
    for rows in torch.randperm(len(x_tr)).split(50):
        loss = nn.functional.cross_entropy(model(x_tr[rows]), y_tr[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        right = (model(x_te).argmax(1) == y_te).float().mean()
    print(f"epoch {epoch} loss {loss.item():.3f} test accuracy {right:.2f}")
