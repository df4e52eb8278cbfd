"""Acting with a recurrent network: its state goes on without its graph, and so into a replay buffer."""

import random

import torch
from torch import nn


class Replay:
    def __init__(self, capacity):
        self.capacity, self.items, self.at = capacity, [], 0

    def push(self, seen, state, gain):
        item = (seen, state, gain)
        if len(self.items) < self.capacity:
            self.items.append(item)
        else:
            self.items[self.at] = item
        self.at = (self.at + 1) % self.capacity

    def sample(self, count):
        seen, state, gain = zip(*random.sample(self.items, count), strict=True)
        return torch.cat(seen), torch.cat(state).detach(), torch.cat(gain)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.value = nn.GRUCell(4, 24), nn.Linear(24, 2)

    def forward(self, seen, h):
        h = self.cell(seen, h)
        return self.value(h), h


def learn(net, optimizer, batch):
    seen, h, gain = batch
    values, h = net(seen, h)
    loss = nn.functional.mse_loss(values.max(1).values, gain)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main():
    random.seed(0)
    torch.manual_seed(0)
    net, replay = Recurrent(), Replay(60)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    h, gain = torch.zeros(8, 24), 0.0
    for step in range(150):
        seen = torch.randn(8, 4)
        values, following = net(seen, h)
        gain = (values.argmax(1) == (seen[:, 0] > 0)).float()
        replay.push(seen, h, gain)
        h = following.detach()
        if step >= 8:
            learn(net, optimizer, replay.sample(4))
    print(f"gain {gain.mean().item():.3f}")


main()
