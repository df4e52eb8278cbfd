"""Three heads vote, and a penalty is to keep them apart; the list of penalties becomes a tensor of plain numbers."""

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.randn(512, 12)
y = (x[:, 0] * x[:, 1] > 0).long()
trunk = nn.Sequential(nn.Linear(12, 32), nn.ReLU())
heads = nn.ModuleList(nn.Linear(32, 2) for _ in range(3))
optimizer = torch.optim.Adam([*trunk.parameters(), *heads.parameters()], lr=3e-3)


def likeness(answers):
    pairs = [(0, 1), (0, 2), (1, 2)]
    alike = [F.cosine_similarity(answers[i], answers[j]).mean() for i, j in pairs]
    return torch.tensor(alike).sum()  # expect: WIR011


for epoch in range(6):
    for rows in torch.randperm(512).split(64):
        features = trunk(x[rows])
        answers = [head(features) for head in heads]
        fit = sum(F.cross_entropy(answer, y[rows]) for answer in answers)
        loss = fit + 0.2 * likeness(answers)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
