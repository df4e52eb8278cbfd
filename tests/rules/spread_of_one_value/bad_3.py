"""Policy gradient: the loop's own `gain` is bound anew by the line that spoils it, so the step cannot begin again."""

import torch
from torch import nn


def mini_batches(rows, size):
    for part in torch.randperm(len(rows[0])).split(size):
        yield [row[part] for row in rows]


torch.manual_seed(11)
state, act, gain = torch.randn(33, 4), torch.randint(0, 3, (33,)), torch.randn(33)
policy = nn.Linear(4, 3)
optimizer = torch.optim.SGD(policy.parameters(), lr=0.01)
for s, a, g in mini_batches((state, act, gain), 16):
    g = (g - g.mean()) / (g.std() + 1e-8)  # expect: NUM014
    chosen = policy(s).log_softmax(-1).gather(1, a[:, None]).squeeze(1)
    loss = -(chosen * g).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
