import torch
from torch import nn

torch.manual_seed(0)
series = torch.randn(500, 16, 3).cumsum(1)
lengths = torch.randint(6, 17, (500,))
mask = (torch.arange(16) < lengths[:, None]).float()
model, head = nn.GRU(3, 16, batch_first=True), nn.Linear(16, 3)
optimizer = torch.optim.Adam([*model.parameters(), *head.parameters()], lr=1e-2)
judge = nn.MSELoss(reduction="none")
for epoch in range(5):
    for rows in torch.randperm(500).split(50):
        answers = head(model(series[rows])[0])
        off = judge(answers[:, :-1], series[rows][:, 1:]).mean(-1)
        loss = off * mask[rows][:, 1:]
        loss = loss.sum() / mask[rows][:, 1:].sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
