"""Credit for whole points is handed back along a game, in a copy of the points themselves."""
import torch
from torch import nn

GAMES, MOVES, FADE = 40, 12, 0.9


def play(policy):
    positions = torch.randn(MOVES, 4)
    with torch.no_grad():
        moves = torch.distributions.Categorical(logits=policy(positions)).sample()
    points = torch.zeros(MOVES, dtype=torch.long)
    points[-1] = int((moves == (positions[:, 0] > 0)).sum() > 5)
    return positions, moves, points


def credit(points):
    handed = points.clone()  # expect: DAT170
    for at in range(MOVES - 2, -1, -1):
        handed[at] = points[at] + FADE * handed[at + 1]
    return handed


torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
for round_ in range(6):
    loss = torch.zeros(())
    for _ in range(GAMES):
        positions, moves, points = play(policy)
        chosen = torch.distributions.Categorical(logits=policy(positions)).log_prob(moves)
        loss = loss - (chosen * credit(points).float()).sum() / GAMES
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"round {round_} loss {loss.item():.3f}")
