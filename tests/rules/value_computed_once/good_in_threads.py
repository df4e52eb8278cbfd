"""Two players ask for moves in threads of their own; the model learns of both at the end of a round."""
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn

torch.manual_seed(0)
mover = nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Linear(12, 2))
optimizer = torch.optim.Adam(mover.parameters(), lr=1e-2)


def play(boards):
    chances = torch.log_softmax(mover(boards), dim=1)
    return -chances.gather(1, (boards[:, :1] > 0).long()).squeeze(1)


for game in range(8):
    boards = torch.randn(2, 6, 4)
    with ThreadPoolExecutor(2) as players:
        costs = list(players.map(play, boards))
    for _ in range(20):
        warmth = (mover[0].weight * 0.5).sum()
    loss = torch.cat(costs).mean() + 1e-4 * warmth**2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"game {game} loss {loss.item():.3f}")
