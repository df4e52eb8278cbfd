"""A window of three notes, each looked up at its own shift, predicts the next note."""
import torch
from torch import nn

torch.manual_seed(0)
NOTES, WINDOW, REST = 24, 3, 24
tunes = torch.cumsum(torch.randint(1, 5, (128, 17)), dim=1) % NOTES


class WindowNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.notes = nn.Embedding(NOTES + 1, 16)
        self.head = nn.Sequential(nn.Linear(16 * WINDOW, 32), nn.Tanh(), nn.Linear(32, NOTES))

    def forward(self, tune):
        parts = []
        for _ in range(WINDOW):
            parts.append(self.notes(tune))
            tune = torch.roll(tune, 1, 1)
            tune[:, 0] = REST
        return self.head(torch.cat(parts, dim=-1))


net = WindowNet()
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(4):
    for rows in torch.randperm(len(tunes)).split(16):
        played, following = tunes[rows, :-1], tunes[rows, 1:]
        scores = net(played)
        loss = nn.functional.cross_entropy(scores.reshape(-1, NOTES), following.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(f"loss {loss.item():.3f}")
