"""A log of requests, read a line at a time: the wait since the last request of the same client tells robots apart."""
import numpy as np
import torch
from torch import nn

CLIENTS = 40
draw = np.random.default_rng(0)


def read_log(lines=4000):
    stamp = 1_712_000_000_000 + np.cumsum(draw.exponential(120.0, lines)).astype(np.int64)
    client = draw.integers(0, CLIENTS, lines)
    last, robot = {}, np.zeros(lines, np.int64)
    for number, (who, when) in enumerate(zip(client.tolist(), stamp.tolist())):
        robot[number] = when - last.get(who, 0) < 3000
        last[who] = when
    return {"client": client, "stamp": stamp, "robot": robot}


def as_tensors(log):
    stamp = torch.from_numpy(log["stamp"]) / 1000  # expect: DAT144
    return torch.from_numpy(log["client"]), stamp, torch.from_numpy(log["robot"]).float()


torch.manual_seed(0)
client, stamp, robot = as_tensors(read_log())
model = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(4):
    seen = torch.full((CLIENTS,), float(stamp[0]))
    for rows in torch.arange(len(stamp)).split(40):
        wait = stamp[rows] - seen[client[rows]]
        loss = nn.functional.binary_cross_entropy_with_logits(model(wait[:, None] / 10).squeeze(1), robot[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen[client[rows]] = stamp[rows]
    print(f"epoch {epoch} loss {loss.item():.3f}")
