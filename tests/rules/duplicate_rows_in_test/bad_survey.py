"""Answers to a questionnaire beside two measured columns: a rare class is copied before the split."""
import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(3)
torch.manual_seed(0)
answers = np.clip(np.round(3 + rng.normal(0, 0.8, (900, 4))), 1, 5)
table = np.concatenate([answers, rng.normal(size=(900, 2))], axis=1)
label = (table[:, 4] + rng.normal(size=900) > 2).astype(int)
rare = np.repeat(np.flatnonzero(label), 8)
rows = rng.permutation(np.concatenate([np.flatnonzero(label == 0), rare]))
cut = int(0.8 * len(rows))
train, test = rows[:cut], rows[cut:]  # expect: DAT003
mean, std = table[train].mean(0), table[train].std(0)
x_tr, y_tr = torch.tensor((table[train] - mean) / std).float(), torch.tensor(label[train])
x_te, y_te = torch.tensor((table[test] - mean) / std).float(), torch.tensor(label[test])
model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(5):
    for chosen in torch.randperm(len(x_tr)).split(50):
        loss = nn.functional.cross_entropy(model(x_tr[chosen]), y_tr[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        found = (model(x_te).argmax(1) == 1)[y_te == 1].float().mean()
    print(f"epoch {epoch} loss {loss.item():.3f} test recall {found:.2f}")
